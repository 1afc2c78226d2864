"""`LocalStore` under faults of the operating system, links and races of processes."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat

import pytest

from lakebed.errors import NotFoundError, StoreError
from lakebed.store import LocalStore


@pytest.fixture
def store() -> LocalStore:
    return LocalStore()


def _broken(monkeypatch, function: str, number: int = errno.EIO) -> None:
    def fail(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, function, fail)


@pytest.mark.parametrize("function", ["write", "fsync", "link"])
def test_a_failed_create_leaves_nothing(store, tmp_path, monkeypatch, function):
    (tmp_path / "schema").mkdir()
    with monkeypatch.context() as patch:
        _broken(patch, function, errno.ENOSPC)
        with pytest.raises(StoreError, match="No space left"):
            store.create_if_absent(f"{tmp_path}/schema/schema-0", b"x")
    assert os.listdir(tmp_path / "schema") == []
    assert store.create_if_absent(f"{tmp_path}/schema/schema-0", b"x")


@pytest.mark.parametrize("function", ["write", "fsync", "replace"])
def test_a_failed_replace_leaves_the_old_content(store, tmp_path, monkeypatch, function):
    path = f"{tmp_path}/d/metadata"
    store.replace(path, b"old")
    with monkeypatch.context() as patch:
        _broken(patch, function)
        with pytest.raises(StoreError):
            store.replace(path, b"new")
    assert store.read(path) == b"old"
    assert os.listdir(tmp_path / "d") == ["metadata"]


@pytest.mark.parametrize("function", ["link", "fsync"])
def test_an_interrupt_leaves_no_temporary_file(store, tmp_path, monkeypatch, function):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        (tmp_path / "d").mkdir()
        patch.setattr(os, function, interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.create_if_absent(f"{tmp_path}/d/schema-0", b"x")
    assert os.listdir(tmp_path / "d") == []


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_hard_links_is_refused(store, tmp_path, monkeypatch, number):
    _broken(monkeypatch, "link", number)
    with pytest.raises(StoreError) as caught:
        store.create_if_absent(f"{tmp_path}/schema-0", b"x")
    assert caught.value.code == "LB3603"
    assert "remedy" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_the_steps_of_a_create_are_in_order(store, tmp_path, monkeypatch):
    """Content is synced before the name appears, the directory after it; the temporary name is hidden."""
    steps = []
    for function in ("fsync", "link", "unlink"):
        real = getattr(os, function)

        def wrapped(*args, _real=real, _function=function):
            if _function == "fsync":
                steps.append("fsync directory" if stat.S_ISDIR(os.fstat(args[0]).st_mode) else "fsync file")
            else:
                steps.append(_function)
                assert os.path.basename(args[0]).startswith(".schema-0.")
                assert args[0].endswith(".tmp")
                assert os.path.dirname(args[0]) == str(tmp_path)
            return _real(*args)

        monkeypatch.setattr(os, function, wrapped)
    assert store.create_if_absent(f"{tmp_path}/schema-0", b"x")
    assert steps == ["fsync file", "link", "unlink", "fsync directory"]
    assert os.stat(tmp_path / "schema-0").st_nlink == 1


def test_a_repeated_link_request_counts_as_won(store, tmp_path, monkeypatch):
    real = os.link

    def twice(source, target):
        real(source, target)
        raise FileExistsError(errno.EEXIST, "exists", target)

    monkeypatch.setattr(os, "link", twice)
    assert store.create_if_absent(f"{tmp_path}/schema-0", b"x") is True


def test_a_name_of_full_length_can_be_published(store, tmp_path):
    name = "ü" * 127
    assert store.create_if_absent(f"{tmp_path}/{name}", b"x")
    with pytest.raises(StoreError):
        store.create_if_absent(f"{tmp_path}/{'x' * 256}", b"x")
    assert os.listdir(tmp_path) == [name]


def test_links_are_removed_and_never_followed(store, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("p")
    table = tmp_path / "table"
    (table / "sub").mkdir(parents=True)
    (table / "sub" / "link").symlink_to(outside)
    (table / "file-link").symlink_to(outside / "precious")
    (table / "dangling").symlink_to(tmp_path / "nowhere")
    assert [e.name for e in store.list(str(table))] == ["dangling", "file-link", "sub"]
    store.delete_tree(str(table))
    assert not table.exists()
    (tmp_path / "whole").symlink_to(outside)
    assert store.is_link(f"{tmp_path}/whole")
    store.delete_tree(f"{tmp_path}/whole")
    assert not os.path.lexists(tmp_path / "whole")
    assert (outside / "precious").read_text() == "p"


def test_a_dangling_link_occupies_its_name(store, tmp_path):
    (tmp_path / "schema-0").symlink_to(tmp_path / "nowhere")
    assert store.create_if_absent(f"{tmp_path}/schema-0", b"x") is False
    assert not (tmp_path / "nowhere").exists()


def test_failures_that_are_no_absence_are_raised(store, tmp_path, monkeypatch):
    _broken(monkeypatch, "scandir", errno.EACCES)
    with pytest.raises(StoreError, match="Permission denied"):
        store.list(str(tmp_path))
    with pytest.raises(StoreError, match="Permission denied"):
        store.exists(str(tmp_path))


def test_a_path_through_a_file_and_a_nul(store, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        store.create_if_absent(f"{tmp_path}/file/schema-0", b"")
    with pytest.raises((StoreError, NotFoundError)):
        store.read(f"{tmp_path}/file/x")
    with pytest.raises(StoreError):
        store.read(f"{tmp_path}/a\0b")


def _create_many(root: str, barrier, results) -> None:
    store = LocalStore()
    barrier.wait()
    results.put(
        [n for n in range(50) if store.create_if_absent(f"{root}/schema/schema-{n}", str(os.getpid()).encode())]
    )


def test_processes_never_both_win(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(4), context.Queue()
    workers = [context.Process(target=_create_many, args=(str(tmp_path), barrier, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    won = [n for _ in workers for n in results.get(timeout=60)]
    for worker in workers:
        worker.join(timeout=60)
    assert sorted(won) == list(range(50))
    assert sorted(os.listdir(tmp_path / "schema")) == sorted(f"schema-{n}" for n in range(50))


def _synced(monkeypatch) -> list[str]:
    """The directories that are synced, in order."""
    found = []
    real = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        return real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks Linux which directory a descriptor is")
@pytest.mark.parametrize("way", ["create_if_absent", "replace", "move", "make_directory", "move_directory"])
def test_every_new_name_is_synced_into_its_directory(store, tmp_path, monkeypatch, way):
    """A power cut right after the call must not take away what it said is there: not the file, nor a parent of it."""
    (tmp_path / "from" / "d").mkdir(parents=True)
    (tmp_path / "from" / "f").write_text("x")
    (tmp_path / "to").mkdir()
    target = f"{tmp_path}/a/b/f"
    synced = _synced(monkeypatch)
    match way:
        case "create_if_absent":
            assert store.create_if_absent(target, b"x")
        case "replace":
            store.replace(target, b"x")
        case "move":
            store.move(f"{tmp_path}/from/f", target)
        case "make_directory":
            store.make_directory(target)
        case "move_directory":
            store.move_directory(f"{tmp_path}/from/d", f"{tmp_path}/to/d")
            assert sorted(synced) == [f"{tmp_path}/from", f"{tmp_path}/to"]
            return
    assert synced == [str(tmp_path), f"{tmp_path}/a", f"{tmp_path}/a/b"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks Linux which directory a descriptor is")
def test_a_content_that_is_replaced_is_synced_after_its_name_has_moved(store, tmp_path, monkeypatch):
    steps = []
    synced, real = _synced(monkeypatch), os.replace

    def moved(source, target):
        steps.append(len(synced))
        return real(source, target)

    monkeypatch.setattr(os, "replace", moved)
    store.replace(f"{tmp_path}/metadata", b"x")
    assert (steps, synced) == ([0], [str(tmp_path)])
