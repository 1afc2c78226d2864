"""Take Open Data Fabric documents apart: dataset snapshots, dataset resources, metadata events.

The schema event is taken out; everything else is kept as JSON, so that a rewrite of the document loses nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from lakebed.diagnostics import near_names
from lakebed.manifest.node_values import json_value
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import Properties, open_envelope, spellings, wrong_shape
from lakebed.manifest.table_manifest import OdfDocument, OdfEvent, SourceKind

SCHEMA_EVENT = "SetDataSchema"
EVENT_KINDS = (
    "AddData",
    "ExecuteTransform",
    "Seed",
    "SetPollingSource",
    "SetTransform",
    "SetVocab",
    "SetAttachments",
    "SetInfo",
    "SetLicense",
    SCHEMA_EVENT,
    "AddPushSource",
    "DisablePushSource",
    "DisablePollingSource",
)
HISTORY_ONLY = frozenset({"AddData", "ExecuteTransform", "Seed", "DisablePushSource", "DisablePollingSource"})
_KINDS = spellings(EVENT_KINDS)
DATASET_KINDS = ("Root", "Derivative")
_RESOURCE = "https://opendatafabric.org/schemas/dataset/"


@dataclass(frozen=True, slots=True)
class OdfParts:
    """A taken apart ODF document. `name` is None where the envelope has no place for one."""

    source_kind: SourceKind
    node: Node
    name: ScalarNode | None
    has_name: bool
    schema: MappingNode | None
    document: OdfDocument


@dataclass(frozen=True, slots=True)
class _Events:
    schema: MappingNode | None
    others: tuple[OdfEvent, ...]
    schema_at: int


class OdfDecoder:
    """Takes ODF documents apart."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems

    def events(self, node: SequenceNode) -> OdfParts:
        """A bare list of events, as in the RFC's example. It has no name."""
        return self._parts(SourceKind.EVENTS, node, None, self._events(node, node, snapshot=False))

    def metadata_event(self, node: MappingNode) -> OdfParts | None:
        """`kind: MetadataEvent` with one event as its content. It has no name."""
        content = open_envelope(node, "the event manifest", self._problems)
        if content is None:
            return None
        events = SequenceNode((content,), content.position)
        return self._parts(SourceKind.METADATA_EVENT, node, None, self._events(events, content, snapshot=False))

    def snapshot(self, node: MappingNode) -> OdfParts | None:
        """`kind: DatasetSnapshot`."""
        content = open_envelope(node, "the dataset snapshot", self._problems)
        if content is None:
            return None
        dataset = Properties(content, "`content`", self._problems)
        name = dataset.name("name", "name: lab.tide-gauge")
        kind, events = self._dataset(dataset)
        return self._parts(SourceKind.DATASET_SNAPSHOT, node, name, events, dataset_kind=kind, has_name=True)

    def resource(self, node: MappingNode) -> OdfParts | None:
        """The resource form: `$schema`, `headers`, `spec`."""
        resource = Properties(node, "the resource", self._problems)
        schema_id = resource.text("$schema") or ""
        headers_node = resource.need("headers", "headers: {name: lab.tide-gauge}")
        spec_node = resource.need("spec", "spec: {kind: Root, metadata: [...]}")
        resource.close()
        if not (schema_id.startswith(_RESOURCE) and schema_id.endswith("/Dataset")):
            message = f"{clipped(schema_id)} is not the `$schema` of a dataset"
            expected = f"{_RESOURCE}v1alpha1/Dataset"
            self._problems.error(
                "LB1022", message, resource.take("$schema") or node, expected=expected, found=schema_id
            )
        headers = resource.mapping(headers_node, "`headers`") if headers_node is not None else None
        spec = resource.mapping(spec_node, "`spec`") if spec_node is not None else None
        if headers is None or spec is None:
            return None
        name = Properties(headers, "`headers`", self._problems).name("name", "name: lab.tide-gauge")
        others = MappingNode(tuple((k, v) for k, v in headers.entries if k.text != "name"), headers.position)
        kept = json.dumps(json_value(others, self._problems), ensure_ascii=False) if others.entries else None
        kind, events = self._dataset(Properties(spec, "`spec`", self._problems))
        return self._parts(
            SourceKind.DATASET_RESOURCE,
            node,
            name,
            events,
            dataset_kind=kind,
            has_name=True,
            schema_id=schema_id,
            headers=kept,
        )

    def _dataset(self, dataset: Properties) -> tuple[str | None, _Events]:
        """The kind and the events of a dataset; `dataset` is closed."""
        kind = dataset.choice("kind", DATASET_KINDS, "LB1056")
        metadata = dataset.need("metadata", "metadata: [{kind: SetDataSchema, schema: ...}]")
        dataset.close()
        listed = dataset.sequence(metadata, "`metadata`") if metadata is not None else None
        if listed is None:
            return kind, _Events(None, (), 0)
        return kind, self._events(listed, dataset.node, snapshot=True)

    def _events(self, node: SequenceNode, around: Node, *, snapshot: bool) -> _Events:
        """The last schema event apart from the others; the last is the one that counts in a chain of events."""
        kinds = [(self._event_kind(item, snapshot=snapshot), item) for item in node.items]
        schemas = [index for index, (kind, _) in enumerate(kinds) if kind == SCHEMA_EVENT]
        for index in schemas[:-1]:
            message = f"a later {SCHEMA_EVENT} replaces this one; the table is declared by the last"
            self._problems.warn("LB1028", message, kinds[index][1])
        if not schemas and all(kind is not None for kind, _ in kinds):
            message = f"there is no {SCHEMA_EVENT} event, so nothing declares the columns"
            self._problems.error("LB1027", message, around, remedy=f"Add an event `kind: {SCHEMA_EVENT}`.")
        chosen = schemas[-1] if schemas else len(kinds)
        before = [self._kept(kind, item) for kind, item in kinds[:chosen]]
        after = [self._kept(kind, item) for kind, item in kinds[chosen + 1 :]]
        schema = self._schema(kinds[chosen][1]) if schemas else None
        return _Events(schema, (*before, *after), len(before))

    def _event_kind(self, node: Node, *, snapshot: bool) -> str | None:
        if not isinstance(node, MappingNode):
            wrong_shape(self._problems, node, "an event", "a mapping such as {kind: SetDataSchema, schema: ...}")
            return None
        event = Properties(node, "the event", self._problems)
        named = event.name("kind", f"kind: {SCHEMA_EVENT}")
        if named is None:
            return None
        kind = _KINDS.get(named.text)
        if kind is None:
            self._problems.error(
                "LB1030",
                f"unknown event kind {clipped(named.text)}",
                named,
                expected=", ".join(EVENT_KINDS),
                found=named.text,
                suggestions=near_names(named.text, EVENT_KINDS),
            )
        elif snapshot and kind in HISTORY_ONLY:
            message = f"the event {kind} is written by a running dataset; a manifest cannot hold it"
            self._problems.error("LB1030", message, named, found=kind, remedy="Leave it out.")
        return kind

    def _kept(self, kind: str | None, node: Node) -> OdfEvent:
        value = json_value(node, self._problems)
        if isinstance(value, dict):
            value["kind"] = kind
        return OdfEvent(kind or "", json.dumps(value, ensure_ascii=False))

    def _schema(self, node: Node) -> MappingNode | None:
        if not isinstance(node, MappingNode):
            return None
        event = Properties(node, f"the event {SCHEMA_EVENT}", self._problems)
        event.take("kind")
        legacy = event.optional("rawArrowSchema")
        schema = event.optional("schema")
        event.close()
        if schema is None and legacy is not None:
            message = "the event has its schema in Arrow's binary form only, from which no table can be declared"
            remedy = "Write the schema out under `schema`, with ODF types."
            self._problems.error("LB1029", message, legacy, remedy=remedy)
        elif schema is None:
            event.missing(("schema",), "schema: {fields: [{name: id, type: Int64}]}")
        return event.mapping(schema, "`schema`") if schema is not None else None

    def _parts(
        self,
        source_kind: SourceKind,
        node: Node,
        name: ScalarNode | None,
        events: _Events,
        *,
        has_name: bool = False,
        dataset_kind: str | None = None,
        schema_id: str | None = None,
        headers: str | None = None,
    ) -> OdfParts:
        document = OdfDocument(events.others, events.schema_at, dataset_kind, schema_id, headers)
        return OdfParts(source_kind, node, name, has_name, events.schema, document)
