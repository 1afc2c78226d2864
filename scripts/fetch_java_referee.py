"""Fetches the jar of Java Paimon 0.9: `fetch_java_referee.py TARGET`.

The jar lies in the source distribution of pypaimon 0.2.0. Both are checked against their hashes, the distribution by
pip before anything in it runs.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

DISTRIBUTION = "pypaimon==0.2.0"
DISTRIBUTION_SHA256 = "43ac684779841da17528b5f241ede6149bcdab4d16f3cd80f713262f6ed04720"
MEMBER = "pypaimon-0.2.0/deps/jars/paimon-python-java-bridge-0.9.0.jar"
JAR_SHA256 = "dc9048366715fc75d2b44e3f8ac1dbfab011b8c34aafc26ffa216500fb890b0e"


def is_right(path: Path) -> bool:
    """Whether the jar is there and whole."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == JAR_SHA256


def download(directory: Path) -> Path:
    """The source distribution, by pip."""
    wanted = directory / "requirements.txt"
    wanted.write_text(f"{DISTRIBUTION} --hash=sha256:{DISTRIBUTION_SHA256}\n", encoding="utf-8")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", "pypaimon", "--require-hashes"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(directory), "-r", str(wanted)]
    subprocess.run(command, check=True)
    (found,) = directory.glob("pypaimon-*.tar.gz")
    return found


def main(target: Path) -> None:
    """Puts the jar at `target`, unless it is there already."""
    if not is_right(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            with tarfile.open(download(Path(scratch))) as archive:
                content = archive.extractfile(MEMBER)
                if content is None:
                    sys.exit(f"{DISTRIBUTION} has no file {MEMBER}")
                jar = Path(scratch) / target.name
                jar.write_bytes(content.read())
            if not is_right(jar):
                sys.exit(f"{MEMBER} has another hash than the one that was studied")
            jar.replace(target)
    target.touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
