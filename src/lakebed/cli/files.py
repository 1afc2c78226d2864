"""Write the files that commands are told to write, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat

from lakebed.store import LocalStore
from lakebed.store.failures import translated


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file over what may be there; through a link, into a pipe or a device as well. Text becomes UTF-8.

    A file that is there keeps its content where the new one cannot be written, and its permissions.

    Raises:
        FileNotFoundError: there is no such directory.
        StoreError: what the file system refuses, for example since it is full.
    """
    name, data = os.fspath(path), content if isinstance(content, bytes) else content.encode()
    target = os.path.realpath(name)
    try:
        mode = os.stat(target).st_mode
    except OSError:
        if not os.path.isdir(os.path.dirname(target)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from None
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with translated("write", name), open(target, "wb") as stream:
            stream.write(data)
        return
    LocalStore().replace(target, data)
    if mode is not None:
        with translated("write", name):
            os.chmod(target, stat.S_IMODE(mode))
