"""Decode one YAML document into a declared table: tell its envelope, read `kind: Table`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lakebed.diagnostics import Position, near_names
from lakebed.manifest.approvals import decode_approvals
from lakebed.manifest.attributes import AttributePlace, check_description
from lakebed.manifest.compatibility import check_consumers, decode_compatibility, decode_consumers
from lakebed.manifest.field_decoder import Declared, SchemaDecoder
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped, describe
from lakebed.manifest.odf import EVENT_KINDS, OdfDecoder, OdfParts
from lakebed.manifest.problems import FieldPath, Problems
from lakebed.manifest.properties import Properties, open_envelope, spellings
from lakebed.manifest.read_step import decode_read
from lakebed.manifest.substitutions import Substitutions
from lakebed.manifest.table_manifest import (
    SourceKind,
    SystemColumns,
    TableManifest,
    Vocabulary,
)
from lakebed.manifest.table_names import DEFAULT_DATABASE, QUARANTINE_SUFFIX, join_table_name, split_table_name
from lakebed.manifest.table_properties import (
    ROLES,
    check_keys,
    decode_keys,
    decode_patterns,
    decode_system_columns,
    decode_text_map,
    option_positions,
    system_column_problem,
    vocabulary_of,
    with_system_columns,
)
from lakebed.model import required

_ENVELOPES = (SourceKind.TABLE, SourceKind.DATASET_SNAPSHOT, SourceKind.METADATA_EVENT)
_KINDS = spellings(_ENVELOPES)
_EVENTS = spellings(EVENT_KINDS)
_PROPERTIES = ("primaryKeys", "partitionKeys", "options", "ignoreOptions", "approvals", "compatibility", "consumers")
_CONTENT = ("description", *_PROPERTIES, "systemColumns", "read")
_NO_DECLARATION = {
    "MetadataBlock": "A block is history. Put its event into `kind: MetadataEvent`, under `content`.",
    "Attributes": "A project's attributes stand in a file of their own, which `attributes` in lakebed.toml names.",
    "Manifest": "Write `kind: Table`.",
}


class DocumentDecoder:
    """Decodes documents, one after the other. `name` is for those that carry none."""

    def __init__(self, problems: Problems, name: str | None, substitutions: Substitutions | None = None) -> None:
        self._problems = problems
        self._name = name
        self._substitutions = substitutions or Substitutions()
        self._tables: dict[tuple[str, str], Position] = {}

    def decode(self, node: Node) -> TableManifest | None:
        """The table that the document declares; None where it declares none, which has been noted."""
        odf = OdfDecoder(self._problems)
        match node:
            case SequenceNode():
                return self._odf(odf.events(node))
            case MappingNode():
                return self._mapping(node, odf)
            case _:
                message = f"a manifest is a mapping or a list of events; this is {describe(node)}"
                self._problems.error("LB1021", message, node, found=describe(node))
                return None

    def _mapping(self, node: MappingNode, odf: OdfDecoder) -> TableManifest | None:
        values = {key.text: value for key, value in node.entries}
        if "$schema" in values:
            return self._odf(odf.resource(node))
        kind_node = values.get("kind")
        if not isinstance(kind_node, ScalarNode):
            looks_bare = "fields" in values or "schema" in values
            remedy = (
                "Put the schema under `content: {name: ..., schema: ...}` of a `kind: Table`." if looks_bare else None
            )
            self._problems.error(
                "LB1021",
                "the document does not say which `kind` of manifest it is",
                node,
                expected="kind: Table",
                remedy=remedy or "Write `kind: Table`, `version: 1` and `content: ...`.",
            )
            return None
        if kind_node.text in _EVENTS:
            return self._odf(odf.events(SequenceNode((node,), node.position)))
        match _KINDS.get(kind_node.text):
            case SourceKind.TABLE:
                return self._table(node)
            case SourceKind.DATASET_SNAPSHOT:
                return self._odf(odf.snapshot(node))
            case SourceKind.METADATA_EVENT:
                return self._odf(odf.metadata_event(node))
            case _:
                self._unknown_kind(kind_node)
                return None

    def _unknown_kind(self, node: ScalarNode) -> None:
        self._problems.error(
            "LB1022",
            f"unknown manifest kind {clipped(node.text)}",
            node,
            expected=", ".join(kind.value for kind in _ENVELOPES),
            found=node.text,
            suggestions=near_names(node.text, [*(kind.value for kind in _ENVELOPES), *EVENT_KINDS]),
            remedy=_NO_DECLARATION.get(node.text),
        )

    def _table(self, node: MappingNode) -> TableManifest | None:
        content = open_envelope(node, "the manifest", self._problems)
        if content is None:
            return None
        content = self._substitutions.content(content, self._problems)
        table = Properties(content, "`content`", self._problems)
        name = self._table_name(table)
        nodes = {p: table.optional(p) for p in _CONTENT}
        description = table.text("description")
        system, vocabulary = decode_system_columns(table, nodes["systemColumns"], self._problems)
        schema_node = table.need("schema", "schema: {fields: [{name: id, type: Int64}]}")
        table.close()
        if description is not None and nodes["description"] is not None:
            check_description(description, nodes["description"], self._problems)
        read = decode_read(nodes["read"], self._problems)
        decoder = SchemaDecoder(self._problems)
        mapping = table.mapping(schema_node, "`schema`") if schema_node is not None else None
        declared = decoder.decode(mapping, AttributePlace.TABLE) if mapping is not None else None
        manifest = self._manifest(name, content, nodes, declared, decoder, prefix="")
        if manifest is None or declared is None:
            return None
        manifest = self._described(replace(manifest, read=read), description, nodes["description"])
        manifest = replace(manifest, vocabulary=vocabulary)
        manifest = self._with_system_columns(manifest, system, declared, nodes["systemColumns"])
        check_consumers(manifest.consumers, manifest.schema, self._problems)
        return manifest

    def _odf(self, parts: OdfParts | None) -> TableManifest | None:
        if parts is None:
            return None
        name = self._odf_name(parts)
        decoder = SchemaDecoder(self._problems)
        declared = decoder.decode(parts.schema, AttributePlace.ODF) if parts.schema is not None else None
        attributes: Mapping[str, Node] = declared.attributes if declared is not None else {}
        nodes = {p: attributes.get(f"lakebed.dev/{p}") for p in _PROPERTIES}
        manifest = self._manifest(name, parts.node, nodes, declared, decoder, prefix="lakebed.dev/")
        if manifest is None:
            return None
        check_consumers(manifest.consumers, manifest.schema, self._problems)
        if parts.document is not None:
            self._warn_of_system_columns(manifest, vocabulary_of(parts.document), parts.node)
        return replace(manifest, source_kind=parts.source_kind, odf=parts.document)

    def _warn_of_system_columns(self, manifest: TableManifest, names: Vocabulary, node: Node) -> None:
        """Columns of a dataset that are called like a system column and cannot be it: ODF only warns of them."""
        roles = {names.name(role): role for role in ROLES}
        for field in manifest.schema.fields:
            expected = system_column_problem(roles.get(field.name, ""), field.type)
            if expected is not None:
                found = required(field.type).kind
                message = f"the system column {field.name} is {found}, not {expected}; it is taken for any other column"
                at = manifest.position_of((field.name,)) or node.position
                self._problems.warn("LB1090", message, at, path=field.name, expected=expected, found=found)

    def _manifest(
        self,
        name: tuple[str, Position] | None,
        node: Node,
        nodes: Mapping[str, Node | None],
        declared: Declared | None,
        decoder: SchemaDecoder,
        *,
        prefix: str,
    ) -> TableManifest | None:
        """What all envelopes have in common: keys and options, checked against the declared columns."""
        primary = decode_keys(nodes["primaryKeys"], f"{prefix}primaryKeys", self._problems)
        partition = decode_keys(nodes["partitionKeys"], f"{prefix}partitionKeys", self._problems)
        options = decode_text_map(nodes["options"], f"{prefix}options", self._problems)
        ignored = decode_patterns(nodes["ignoreOptions"], f"{prefix}ignoreOptions", options, self._problems)
        approvals = decode_approvals(nodes["approvals"], f"{prefix}approvals", self._problems)
        compatibility = decode_compatibility(nodes["compatibility"], f"{prefix}compatibility", self._problems)
        consumers = decode_consumers(nodes["consumers"], f"{prefix}consumers", self._problems)
        if declared is not None:
            check_keys(f"{prefix}primaryKeys", primary, declared.names, self._problems)
            check_keys(f"{prefix}partitionKeys", partition, declared.names, self._problems)
        if declared is None or name is None:
            return None
        places: dict[FieldPath, Position] = {(p,): n.position for p, n in nodes.items() if n is not None}
        places[("name",)] = name[1]
        return TableManifest(
            name[0],
            declared.schema,
            tuple(key.name for key in primary),
            tuple(key.name for key in partition),
            options,
            ignore_options=ignored,
            approvals=approvals,
            compatibility=compatibility,
            consumers=consumers,
            position=name[1],
            positions=decoder.positions,
            property_positions=places | option_positions(nodes["options"]) | decoder.attribute_positions,
        )

    def _described(self, manifest: TableManifest, description: str | None, node: Node | None) -> TableManifest:
        """The table's description may stand under `content` or on the schema; where it stands twice it is the same."""
        if description is None or node is None:
            return manifest
        said = manifest.description
        if said is not None and said != description:
            message = "the table is described twice, here and in the `extra` of its schema, and not in the same words"
            self._problems.error("LB1083", message, node, remedy="Keep one of the two.")
            return manifest
        return replace(manifest, description=description)

    def _with_system_columns(
        self, manifest: TableManifest, who: SystemColumns | None, declared: Declared, node: Node | None
    ) -> TableManifest:
        if who is None or node is None:
            return manifest
        roles = {manifest.vocabulary.name(role): role for role in ROLES}
        for name, type_ in declared.names.items():
            expected = system_column_problem(roles.get(name, ""), type_) if type_ is not None else None
            if expected is not None and type_ is not None:
                message = f"the system column {name} is {type_.kind}, not {expected}"
                at = manifest.position_of((name,)) or node
                self._problems.error("LB1090", message, at, path=name, expected=expected, found=type_.kind)
        schema = with_system_columns(manifest.schema, who, manifest.vocabulary)
        added: dict[FieldPath, Position] = {
            (f.name,): node.position for f in schema.fields if f.name not in declared.names
        }
        return replace(manifest, schema=schema, system_columns=who, positions=added | dict(manifest.positions))

    def _table_name(self, content: Properties) -> tuple[str, Position] | None:
        """`name`, with `database` before it where that is given."""
        node = content.name("name", "name: nyc.flights")
        database = content.text("database")
        if node is None:
            return None
        if database is None:
            return self._unique(node.text, node.position)
        parts = split_table_name(node.text)
        if parts is not None and parts[0] != DEFAULT_DATABASE:
            message = f"the database is given twice: as `database` and in `name` ({clipped(node.text)})"
            remedy = f"Leave `database` out, or put a table name that holds a dot in backticks: `{node.text}`."
            self._problems.error("LB1025", message, node, found=node.text, remedy=remedy)
            return None
        text = join_table_name(database, parts[1]) if parts is not None else node.text
        return self._unique(text, node.position)

    def _odf_name(self, parts: OdfParts) -> tuple[str, Position] | None:
        if parts.has_name:
            return self._unique(parts.name.text, parts.name.position) if parts.name is not None else None
        if self._name is None:
            self._problems.error(
                "LB1024",
                "events say nothing about which table they declare",
                parts.node,
                expected="the name of a table beside the events",
                remedy="Give it as `name=`, or write `kind: DatasetSnapshot` with a `name` around the events.",
            )
            return None
        return self._unique(self._name, parts.node.position)

    def _unique(self, text: str, position: Position) -> tuple[str, Position] | None:
        text = self._substitutions.table_name(text)
        parts = split_table_name(text)
        if parts is None:
            self._problems.error(
                "LB1025",
                f"{clipped(text)} is no name of a table",
                position,
                expected="db.table or table, each a plain directory name; in backticks where it holds a dot or an @",
                found=text,
            )
            return None
        if parts[1].endswith(QUARANTINE_SUFFIX):
            self._problems.error(
                "LB3710",
                f"{clipped(text)} is the name of a quarantine, which ingest makes and which is dropped with its table",
                position,
                found=text,
                remedy=f"Choose a name that does not end in {QUARANTINE_SUFFIX}.",
            )
            return None
        first = self._tables.setdefault(parts, position)
        if first is not position:
            message = (
                f"the table {clipped(text)} is declared twice; the first is in line {first.line}, column {first.column}"
            )
            self._problems.error("LB1026", message, position, found=text, remedy="Keep one of the two documents.")
        return text, position
