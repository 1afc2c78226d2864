"""What every store promises, run over all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakebed.errors import AlreadyExistsError, NotFoundError, StoreError
from lakebed.store import DirectoryStore, Entry, LocalStore, Store, open_store
from lakebed.store.directories import file_names
from lakebed.store.fsspec_store import FsspecStore
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore


def _fsspec_memory() -> Store:
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    return FsspecStore(MemoryFileSystem())


@pytest.fixture(params=["local", "memory", "memory-object", "fsspec-memory", "fsspec-local"])
def place(request: pytest.FixtureRequest, tmp_path) -> Iterator[tuple[Store, str]]:
    match request.param:
        case "local":
            yield LocalStore(), f"{tmp_path}/root"
        case "memory":
            yield MemoryStore(), "/root"
        case "memory-object":
            yield MemoryObjectStore(), "bucket/root"
        case "fsspec-memory":
            yield _fsspec_memory(), "/root"
        case _:
            from fsspec.implementations.local import LocalFileSystem

            yield FsspecStore(LocalFileSystem(), allow_overwrite_races=True), f"{tmp_path}/root"


def test_create_publishes_once_and_never_overwrites(place):
    store, root = place
    path = f"{root}/db.db/t/schema/schema-0"
    assert store.create_if_absent(path, b"one") is True
    assert store.create_if_absent(path, b"two") is False
    assert store.read(path) == b"one"
    assert store.list(f"{root}/db.db/t/schema") == [Entry("schema-0", False, 3)]


def test_replace_writes_over(place):
    store, root = place
    store.replace(f"{root}/a/LATEST", b"1")
    store.replace(f"{root}/a/LATEST", b"22")
    assert store.read(f"{root}/a/LATEST") == b"22"
    assert store.size(f"{root}/a/LATEST") == 2
    assert [e.name for e in store.list(f"{root}/a")] == ["LATEST"]


def test_listing_is_sorted_and_knows_directories(place):
    store, root = place
    for name in ("b", "a/x", "c/y/z", "A"):
        store.replace(f"{root}/{name}", b"12")
    assert store.list(root) == [Entry("A", False, 2), Entry("a", True), Entry("b", False, 2), Entry("c", True)]
    assert store.list(f"{root}/nothing") == []
    assert store.list(f"{root}/") == store.list(root)


def test_listing_a_file_is_an_error(place):
    store, root = place
    store.replace(f"{root}/a/file", b"")
    with pytest.raises(StoreError):
        store.list(f"{root}/a/file")
    with pytest.raises(StoreError):
        file_names(store, f"{root}/a/file")


def test_names_alone_are_those_of_the_files_in_the_listing(place):
    store, root = place
    for name in ("b", "a/x", "c/y/z", "A", ".hidden"):
        store.replace(f"{root}/{name}", b"12")
    assert sorted(file_names(store, root)) == [".hidden", "A", "b"]
    assert file_names(store, f"{root}/nothing") == []


def test_names_alone_take_links_as_the_listing_does(tmp_path):
    store = LocalStore()
    (tmp_path / "file").touch()
    (tmp_path / "directory").mkdir()
    for name, target in {
        "to-file": "file",
        "to-directory": "directory",
        "to-nothing": "none",
        "circle": "circle",
    }.items():
        (tmp_path / name).symlink_to(target)
    listed = [e.name for e in store.list(str(tmp_path)) if not e.is_directory]
    assert sorted(file_names(store, str(tmp_path))) == listed == ["circle", "file", "to-file", "to-nothing"]


def test_exists_sees_files_and_prefixes_only(place):
    store, root = place
    store.replace(f"{root}/db.db/t/f", b"")
    assert store.exists(f"{root}/db.db/t/f")
    assert store.exists(f"{root}/db.db")
    assert not store.exists(f"{root}/db")
    assert not store.exists(f"{root}/db.db/t/f/g")
    store.make_directory(f"{root}/empty")
    assert not store.exists(f"{root}/empty")


@pytest.mark.parametrize(
    ("start", "length", "expected"), [(0, 3, b"abc"), (4, 9, b"ef"), (-2, 2, b"ef"), (-99, 2, b"ab"), (9, 1, b"")]
)
def test_read_range(place, start, length, expected):
    store, root = place
    store.replace(f"{root}/f", b"abcdef")
    assert store.read_range(f"{root}/f", start, length) == expected


def test_what_is_not_there(place):
    store, root = place
    store.replace(f"{root}/here", b"")
    for call in (store.read, store.size, lambda p: store.read_range(p, 0, 1), lambda p: store.move(p, f"{root}/t")):
        with pytest.raises(NotFoundError) as caught:
            call(f"{root}/missing")
        assert f"{root}/missing".lstrip("/") in str(caught.value)
    store.delete(f"{root}/missing")
    store.delete_tree(f"{root}/missing")


def test_size_of_a_directory_is_an_error(place):
    store, root = place
    store.replace(f"{root}/d/f", b"")
    with pytest.raises(StoreError):
        store.size(f"{root}/d")


def test_move_never_overwrites(place):
    store, root = place
    store.replace(f"{root}/a", b"a")
    store.replace(f"{root}/b", b"b")
    with pytest.raises(AlreadyExistsError):
        store.move(f"{root}/a", f"{root}/b")
    store.move(f"{root}/a", f"{root}/deep/er/c")
    assert store.read(f"{root}/deep/er/c") == b"a"
    assert store.read(f"{root}/b") == b"b"
    assert not store.exists(f"{root}/a")


def test_delete_tree_takes_all_below_and_nothing_beside(place):
    store, root = place
    for name in ("t/a", "t/b/c", "tt/a", "t.x"):
        store.replace(f"{root}/{name}", b"")
    store.delete(f"{root}/t/a")
    assert not store.exists(f"{root}/t/a")
    store.delete_tree(f"{root}/t")
    assert [e.name for e in store.list(root)] == ["t.x", "tt"]


def test_names_of_every_sort(place):
    store, root = place
    store.replace(f"{root}/x1/kept", b"")
    for name in ("a b", 'quote\'s "x"', "ünï", "日本", "a.b.c", "%41", "#1", "a=b", "[x]*?"):
        assert store.create_if_absent(f"{root}/{name}/schema-0", name.encode())
        assert store.read(f"{root}/{name}/schema-0") == name.encode()
        assert store.exists(f"{root}/{name}")
        assert [e.name for e in store.list(f"{root}/{name}")] == ["schema-0"]
        store.delete_tree(f"{root}/{name}")
        assert not store.exists(f"{root}/{name}")
        assert store.exists(f"{root}/x1/kept")


@pytest.mark.parametrize("place", ["local", "memory"], indirect=True)
def test_directories_move_whole(place):
    store, root = place
    assert isinstance(store, DirectoryStore)
    store.replace(f"{root}/t/schema/schema-0", b"x")
    store.make_directory(f"{root}/empty")
    assert store.is_directory(f"{root}/empty")
    assert not store.is_directory(f"{root}/t/schema/schema-0")
    with pytest.raises(AlreadyExistsError):
        store.move_directory(f"{root}/t/schema", f"{root}/empty")
    with pytest.raises(NotFoundError):
        store.move_directory(f"{root}/nothing", f"{root}/new")
    store.move_directory(f"{root}/t/schema", f"{root}/t/.gone")
    assert not store.exists(f"{root}/t/schema")
    assert store.read(f"{root}/t/.gone/schema-0") == b"x"


def test_object_stores_are_no_directory_stores():
    assert isinstance(LocalStore(), DirectoryStore)
    assert isinstance(MemoryStore(), DirectoryStore)
    assert not isinstance(MemoryObjectStore(), DirectoryStore)
    assert not isinstance(_fsspec_memory(), DirectoryStore)


def test_a_file_system_without_conditional_put_is_refused(tmp_path):
    from fsspec.implementations.local import LocalFileSystem

    store = FsspecStore(LocalFileSystem())
    assert not store.is_exclusive
    with pytest.raises(StoreError) as caught:
        store.create_if_absent(f"{tmp_path}/schema-0", b"")
    assert caught.value.code == "LB3605"
    assert "allow_overwrite_races" in str(caught.value)
    assert not (tmp_path / "schema-0").exists()


def test_exclusive_drivers_are_told_by_their_own_put():
    from fsspec import AbstractFileSystem
    from fsspec.asyn import AsyncFileSystem
    from fsspec.implementations.dirfs import DirFileSystem
    from fsspec.implementations.memory import MemoryFileSystem

    class Conditional(AsyncFileSystem):
        async def _pipe_file(self, path, value, mode="overwrite", **kwargs): ...

    class Careless(AsyncFileSystem):
        async def _pipe_file(self, path, value, **kwargs): ...

    class Derived(Conditional): ...

    answers = [FsspecStore(fs()).is_exclusive for fs in (Conditional, Derived, MemoryFileSystem)]
    assert answers == [True, True, True]
    refused = (Careless(), AbstractFileSystem(), AsyncFileSystem(), DirFileSystem("x", MemoryFileSystem()))
    assert [FsspecStore(fs).is_exclusive for fs in refused] == [False, False, False, False]


def test_errors_of_network_drivers_are_store_errors():
    class Broken:
        protocol = "s3"

        def invalidate_cache(self, path): ...

        def info(self, path):
            raise RuntimeError("connection reset")

    with pytest.raises(StoreError, match="connection reset"):
        FsspecStore(Broken()).size("s3://bucket/x")  # type: ignore[arg-type]


def test_open_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store, root = open_store("./lake/")
    assert isinstance(store, LocalStore)
    assert root == str(tmp_path / "lake")
    assert open_store(tmp_path)[1] == str(tmp_path)
    assert open_store(f"file://{tmp_path}/a%20b/")[1] == f"{tmp_path}/a b"
    store, root = open_store("memory://lake/")
    assert isinstance(store, FsspecStore)
    assert root == "memory://lake"
    assert store.create_if_absent(f"{root}/x.db/f", b"1")
    assert [e.name for e in store.list(root)] == ["x.db"]
    store.delete_tree(root)
    for wrong in ("", "nosuchscheme://x"):
        with pytest.raises(StoreError):
            open_store(wrong)


def test_an_output_is_a_file_once_it_is_closed(place):
    store, root = place
    path = f"{root}/db.db/t/p=1/bucket-0/data-1.parquet"
    with_parts = store.open_output(path)
    assert [with_parts.write(part) for part in (b"one", memoryview(b"two"), b"")] == [3, 3, 0]
    assert with_parts.size == 6
    with_parts.close()
    assert store.read(path) == b"onetwo"
    assert store.size(path) == 6
    empty = store.open_output(f"{root}/empty")
    empty.close()
    assert store.read(f"{root}/empty") == b""


@pytest.mark.parametrize("is_closed", [False, True])
def test_an_output_that_is_given_up_leaves_nothing(place, is_closed):
    store, root = place
    for written in (b"", b"one"):
        output = store.open_output(f"{root}/t/data")
        output.write(written)
        if is_closed:
            output.close()
        output.discard()
        output.discard()
        assert store.list(f"{root}/t") == []
        with pytest.raises(StoreError):
            output.write(b"more")
        del output
    assert not store.exists(f"{root}/t/data")


def test_an_output_is_never_written_over_a_file(place):
    store, root = place
    store.replace(f"{root}/t/data", b"theirs")
    with pytest.raises(AlreadyExistsError):
        store.open_output(f"{root}/t/data")
    assert store.read(f"{root}/t/data") == b"theirs"


def test_an_output_below_a_file_is_an_error(tmp_path):
    store = LocalStore()
    store.replace(f"{tmp_path}/file", b"")
    with pytest.raises(StoreError):
        store.open_output(f"{tmp_path}/file/data")
