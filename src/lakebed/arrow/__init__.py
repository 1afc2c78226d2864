"""Read and write data files as Arrow batches, in this process or in Spark's Python workers, which must have Lakebed.

Avro files and blobs are read whole and decoded row by row, which is slower than a native scan.
"""

from importlib.util import find_spec

from lakebed.errors import NotFoundError


def require_libraries(**extras: str) -> None:
    """Raise `NotFoundError` (LB5611) for libraries that are not installed; each comes with what to install it by."""
    for name, what in extras.items():
        if find_spec(name) is None:
            raise NotFoundError.of("LB5611", f"{name} is not installed", found=name, remedy=f"pip install '{what}'")
