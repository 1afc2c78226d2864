#!/usr/bin/env bash
# Prints the path of a Python that Lakebed supports (3.11 or newer, with venv), or says what to install.
set -euo pipefail

for name in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.14; do
    [ -n "$name" ] || continue
    # Asking the interpreter itself: a version manager may put a name on the PATH that does not run.
    if path=$("$name" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys.executable)' 2>/dev/null); then
        break
    fi
    path=
done

if [ -z "${path:-}" ]; then
    found=$(python3 --version 2>/dev/null || echo "no python3")
    {
        echo "Lakebed needs Python 3.11 or newer; found: $found."
        echo "  Debian, Ubuntu: sudo apt-get install python3.12 python3.12-venv   (or any newer version)"
        echo "  Fedora:         sudo dnf install python3.12"
        echo "  macOS:          brew install python@3.12"
        echo "Then run make again, or name the interpreter: make PYTHON=/path/to/python3.12 test"
    } >&2
    exit 1
fi

if ! "$path" -c 'import venv, ensurepip' 2>/dev/null; then
    version=$("$path" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    {
        echo "$path cannot make virtual environments: its venv or ensurepip module is missing."
        echo "  Debian, Ubuntu: sudo apt-get install python$version-venv"
        echo "Then run make again."
    } >&2
    exit 1
fi

echo "$path"
