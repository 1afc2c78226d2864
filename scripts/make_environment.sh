#!/usr/bin/env bash
# make_environment.sh DIRECTORY: makes a virtual environment there unless one that works is there already.
set -euo pipefail

directory=$1
if [ -x "$directory/bin/python" ] && "$directory/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi
python=$("$(dirname "$0")/find_python.sh")
echo "Making the environment $directory with $("$python" --version)" >&2
"$python" -m venv --clear "$directory"
