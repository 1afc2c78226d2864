"""No secret of a URL or of storage options is shown: not in messages, JSON, representations or tracebacks."""

from __future__ import annotations

import json
import string
import traceback

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import example, given
from hypothesis import strategies as st

import lakebed
from lakebed.catalog import PathFactory
from lakebed.cli.configuration import Configuration
from lakebed.cli.main import run
from lakebed.data_source.read_options import Warehouse
from lakebed.diagnostics import Diagnostic
from lakebed.errors import LakebedError
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.redaction import redact, secrets_of
from lakebed.store import open_store
from lakebed.store.fsspec_store import FsspecStore
from lakebed.testing.memory_store import MemoryStore

SECRET = "hunter2xyz"

URLS = [
    f"ftp://me:{SECRET}@host/dir",
    f"sftp://me:{SECRET}@host:22/dir",
    f"s3://AKIA:{SECRET}/with/slashes@bucket/warehouse",
    f"ftp://me:p@ss@{SECRET}@host/dir",
    f"ftp://:{SECRET}@host",
    f"https://{SECRET}@host/repository",
    f"abfss://container@account.dfs.core.windows.net/dir?sv=2022&sig={SECRET}",
    f"https://host/file?X-Amz-Signature={SECRET}&X-Amz-Date=1",
    f"https://host/file?x=1&token={SECRET}",
    f"https://host/file?%74oken={SECRET}",
    f"s3://bucket/dir?secret_access_key={SECRET}#anchor",
    f"gs://bucket/dir#access_token={SECRET}",
    f"foo://me:{SECRET}@host?sig={SECRET}",
    *(f"webhdfs://host/dir?{name}={SECRET}" for name in ("delegation", "jwt", "bearer", "passphrase", "pw", "ticket")),
]

#: What reads like a URL and is none that a storage has.
UNKNOWN = [
    f"simplecache::http://me:{SECRET}@host/dir",
    f"filecache::zip://x.zip::ftp://me:{SECRET}@host/dir",
    f"jdbc:mysql://me:{SECRET}@host/dir",
    f"  http://me:{SECRET}@host/dir",
    f"\thttp://me:{SECRET}@host/dir",
    f"1x://me:{SECRET}@host/dir",
    f"://me:{SECRET}@host/dir",
]


@pytest.mark.parametrize("url", URLS)
def test_a_secret_is_not_shown_and_the_place_is(url):
    assert SECRET not in redact(url)
    assert "***" in redact(url)
    assert redact(url).partition("://")[0] == url.partition("://")[0]
    assert redact(redact(url)) == redact(url)
    text = f"cannot read '{url}': no answer from {url}, try again"
    assert SECRET not in redact(text)
    assert redact(text).endswith(", try again")


@pytest.mark.parametrize(
    "text",
    [
        *("/w/db.db/t/schema/schema-3", "s3://bucket/dir/x@y:z", "http://host:9000/bucket", "http://host:9000"),
        *("abfss://container@account.dfs.core.windows.net/dir", "sftp://me@host/dir", "file:///a b/c?d=e"),
        *("cannot reach s3://bucket: denied for me@example.org", "db.t@branch:dev", "a:b@c", "k=v/token=1"),
        *("http://host:9000 and me@example.org", "https://host/x?a=1&b=2", "key=value", ""),
    ],
)
def test_what_holds_no_secret_stays_as_it_is(text):
    assert redact(text) == text


_WORD = st.text(string.ascii_letters + string.digits + "-._~%!$*+,;=/@:", min_size=1, max_size=12)


@given(_WORD, st.text(string.ascii_letters + string.digits, min_size=1, max_size=8), _WORD)
@example("me", "x", "p:q@r/s")
def test_no_part_of_a_password_stays(user, host, tail):
    password = f"<{SECRET}>{tail}<{SECRET}>"
    user = user.translate(str.maketrans("", "", "/@:"))
    assert SECRET not in redact(f"cannot open ftp://{user}:{password}@{host}/dir")


@pytest.mark.parametrize("part", ["message", "path", "expected", "found", "remedy"])
def test_no_diagnostic_holds_one(part):
    said = Diagnostic(**{"code": "LB3607", "message": "m", part: URLS[0]}, suggestions=(URLS[1],))
    assert SECRET not in repr(said) + str(said) + json.dumps(said.to_json())


@pytest.mark.parametrize("url", URLS)
def test_opening_shows_none(url, capsys):
    for call in (lakebed.open, open_store):
        with pytest.raises(LakebedError) as caught:
            call(url.replace("://", "nobody://"))
        assert SECRET not in "".join(traceback.format_exception(caught.value))
    for arguments in (["tables"], ["tables", "--json"], ["plan", "none.yaml"]):
        assert run([*arguments, "--warehouse", url.replace("://", "nobody://")]) != 0
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err


@pytest.mark.parametrize("url", UNKNOWN)
def test_what_reads_like_a_url_is_no_path(url, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (lakebed.open, open_store):
        with pytest.raises(LakebedError) as caught:
            call(url)
        assert caught.value.code == "LB3607"
        assert SECRET not in "".join(traceback.format_exception(caught.value))
    for arguments in (["tables"], ["tables", "--json"], ["plan", "none.yaml"]):
        assert run([*arguments, "--warehouse", url]) != 0
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err
    assert not list(tmp_path.iterdir())


def test_a_login_without_a_scheme_is_hidden(capsys, tmp_path):
    place = f"//me:{SECRET}@host/dir"
    assert redact(place) == "//***@host/dir"
    assert SECRET not in redact(f"cannot open '{place}' ({place})")
    contract = tmp_path / "c.yaml"
    contract.write_text("{}")
    with pytest.raises(LakebedError) as caught:
        lakebed.open(place)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    for arguments in (["tables"], ["tables", "--json"], ["plan", str(contract)], ["register", str(contract)]):
        run([*arguments, "--warehouse", place])
        run([*arguments[:1], place, *arguments[2:]])
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err


def test_a_login_that_the_driver_says_again_is_hidden():
    class Echoing(MemoryFileSystem):
        protocol = "echoing"
        cachable = False

        def cat_file(self, path, start=None, end=None, **kwargs):
            raise ValueError(f'Invalid bucket name "AKIA:{SECRET}@b", user AKIA, password {SECRET} and p@{SECRET}')

        ls = cat_file

    for url in (f"echoing://AKIA:{SECRET}@b/x", f"echoing://AKIA:p%40{SECRET}@b/x"):
        for call in (FsspecStore(Echoing()).read, FsspecStore(Echoing()).list):
            with pytest.raises(LakebedError) as caught:
                list(call(url))
            shown = "".join(traceback.format_exception(caught.value))
            assert f"password {SECRET}" not in shown if "%" not in url else f"p@{SECRET}" not in shown
            assert f"AKIA:{SECRET}" not in shown or "%" in url
            assert "Invalid bucket name" in shown
    said = Diagnostic("LB3607", f"no bucket AKIA:{SECRET}@b", path=f"s3://AKIA:{SECRET}@b/x")
    assert SECRET not in repr(said)
    assert SECRET not in redact(f'cannot list s3://AKIA:{SECRET}@b/x: Invalid bucket name "AKIA:{SECRET}@b"')


def test_no_representation_shows_one():
    store = MemoryStore()
    lake = lakebed.lake.Lake(
        lakebed.catalog.TableManager(PathFactory(URLS[0], store=store)),
        store,
        time_zone="UTC",
        storage_options={"password": SECRET},
    )
    options = {"key": SECRET, "client_kwargs": {"aws_secret_access_key": SECRET}}
    shown = [repr(lake), repr(lake.tables.path_factory), repr(Warehouse(URLS[0], storage_options=options))]
    shown.append(repr(Configuration(URLS[0], storage=options)))
    assert SECRET not in "".join(shown)
    assert "host" in shown[0]


def test_a_run_does_not_remember_one():
    file = SourceFile(f"ftp://me:{SECRET}@host/a.csv", 1, "digest")
    assert SECRET not in json.dumps(file.to_json())
    assert SourceFile.from_json(file.to_json()).identity == file.identity


def test_what_a_driver_says_of_its_options_is_hidden():
    class Talkative(MemoryFileSystem):
        protocol = "talkative"
        cachable = False

        def cat_file(self, path, start=None, end=None, **kwargs):
            raise PermissionError(f"credentials {self.storage_options} refused for talkative://me:{SECRET}@host{path}")

    options = {"secret": SECRET, "client_kwargs": {"account_key": SECRET}, "anon": False}
    assert secrets_of(options) == (SECRET, SECRET)
    with pytest.raises(LakebedError) as caught:
        FsspecStore(Talkative(**options)).read("talkative://x/y")
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert "talkative://x/y" in str(caught.value)

    class Failing(Talkative):
        def __init__(self, **options):
            raise OSError(f"cannot log in with {options}")

    fsspec.register_implementation("talkative", Failing, clobber=True)
    with pytest.raises(LakebedError) as caught:
        open_store("talkative://x/y", storage_options=options)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert caught.value.code == "LB3614"
