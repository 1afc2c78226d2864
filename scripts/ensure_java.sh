#!/usr/bin/env bash
# Prints the home directory of a Java 17 or newer, which Spark needs. Where there is none, installs one with the
# system's package manager if that needs no password, else says what to install and fails. Talk goes to stderr.
set -euo pipefail

readonly MINIMUM=17

# The major version of the Java in a home directory; nothing when there is none that runs.
major_version() {
    local text
    text=$("$1/bin/java" -version 2>&1) || return 0
    sed -n 's/.* version "\([0-9]*\)[.\"].*/\1/p; s/.* version "\([0-9]*\)-.*/\1/p' <<<"$text" | head -n 1
}

# Java homes that may exist, best first.
candidates() {
    [ -z "${JAVA_HOME:-}" ] || echo "$JAVA_HOME"
    local command
    if command=$(command -v java); then
        # The command may be a chain of links (alternatives), or a version manager's shim that links nowhere.
        dirname "$(dirname "$(readlink -f "$command" 2>/dev/null || echo "$command")")"
        "$command" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p' || true
    fi
    if [ -x /usr/libexec/java_home ]; then
        /usr/libexec/java_home -v "$MINIMUM+" 2>/dev/null || true
    fi
    local pattern
    for pattern in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* "$HOME"/.sdkman/candidates/java/* \
        /opt/homebrew/opt/openjdk* /usr/local/opt/openjdk* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        [ ! -x "$pattern/bin/java" ] || echo "$pattern"
    done
}

find_java() {
    local home version
    while read -r home; do
        version=$(major_version "$home")
        if [ -n "$version" ] && [ "$version" -ge "$MINIMUM" ]; then
            echo "$home"
            return 0
        fi
    done < <(candidates)
    return 1
}

# Runs a command as root, without ever asking for a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

install_java() {
    if command -v apt-get >/dev/null; then
        as_root true || return 1
        as_root apt-get update -qq || return 1
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless ||
            as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends default-jre-headless
    elif command -v dnf >/dev/null; then
        as_root dnf install -y -q java-17-openjdk-headless || as_root dnf install -y -q java-latest-openjdk-headless
    elif command -v brew >/dev/null; then
        brew install --quiet openjdk@17
    else
        return 1
    fi
}

if find_java; then
    exit 0
fi
echo "Spark needs Java $MINIMUM or newer and none was found; trying to install it." >&2
if [ "${LAKEBED_INSTALL_JAVA:-yes}" = yes ] && install_java >&2 && find_java; then
    exit 0
fi
{
    echo "Java $MINIMUM or newer is needed and could not be installed here. Install it, then run make again:"
    echo "  Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless   (or default-jre-headless)"
    echo "  Fedora:         sudo dnf install java-17-openjdk-headless"
    echo "  macOS:          brew install openjdk@17"
    echo "A Java in an unusual place is found through JAVA_HOME."
} >&2
exit 1
