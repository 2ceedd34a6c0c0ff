#!/bin/sh
# Makes .venv and installs what the lock files name into it. Called by `make setup` (runtime) and
# `make setup-dev` (dev). When nothing has changed it returns in a few milliseconds, without network.
set -eu

cd "$(dirname "$0")/.."
root=$PWD
kind=${1:-runtime}
venv=.venv
log=$venv.log
oldest="3.11"

export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_PROGRESS_BAR=off
# A virtual environment or a path that the caller has active must not leak into this one.
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME

say() { printf '%s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

# What the environment was made from. Its place counts too: a moved or copied .venv points at the old one.
# So does the interpreter behind it: an upgrade of the system may put another Python there.
fingerprint() {
    { echo "$root"; readlink -f $venv/bin/python || true; cat pyproject.toml "$@"; } | sha256sum | cut -d' ' -f1
}

up_to_date() { # STAMP FINGERPRINT
    [ -x $venv/bin/python ] && [ "$(cat "$venv/$1" 2>/dev/null)" = "$2" ]
}

case $kind in
    runtime) up_to_date .runtime "$(fingerprint requirements.lock)" && exit 0 ;;
    dev) up_to_date .dev "$(fingerprint requirements.lock requirements-dev.lock)" && exit 0 ;;
    *) fail "usage: tools/setup.sh runtime|dev" ;;
esac

# Two makes at once must not install over each other: the second waits, then finds the work done.
if [ -z "${LACONIC_SETUP_LOCKED-}" ] && command -v flock >/dev/null; then
    LACONIC_SETUP_LOCKED=1 exec flock "$root/tools/setup.sh" "$0" "$kind"
fi

new_enough() { "$1" -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$oldest'.split('.'))))" 2>/dev/null; }

find_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if command -v "$candidate" >/dev/null && new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# Debian and Ubuntu ship python3 without the parts that `python3 -m venv` needs; each way around is tried.
make_venv() { # PYTHON
    rm -rf $venv
    "$1" -m venv $venv >"$log" 2>&1 && return
    rm -rf $venv
    if command -v uv >/dev/null; then
        uv venv --quiet --seed --python "$1" $venv >>"$log" 2>&1 && return
    fi
    if command -v virtualenv >/dev/null; then
        virtualenv --quiet --python "$1" $venv >>"$log" 2>&1 && return
    fi
    rm -rf $venv
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "Python cannot make virtual environments here: installing $package with apt-get…"
        if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package"; } \
            >>"$log" 2>&1 </dev/null && "$1" -m venv $venv >>"$log" 2>&1; then
            return
        fi
        rm -rf $venv
    fi
    say "Python cannot make a virtual environment: the part called 'venv' is missing."
    say "On Debian or Ubuntu:  sudo apt install $package   and then run make again."
    fail "(What was tried and what it said: $log)"
}

install() { # LOCK: everything it names, by hash
    run_pip --require-hashes --no-deps -r "$1"
}

run_pip() {
    "$venv/bin/python" -m pip install --quiet "$@" >"$log" 2>&1 && return
    say "" && cat "$log" >&2
    fail "Installing failed; the lines above say why. A network that reaches a Python package index is needed once."
}

started=$(date +%s)
if [ "$kind" = dev ]; then
    say "Installing dependencies and development tools (once, about a minute)…"
else
    say "Installing dependencies (once, about a minute)…"
fi

if ! [ -x $venv/bin/python ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1 \
    || [ "$(cat $venv/.place 2>/dev/null)" != "$root" ]; then
    python=$(find_python) || fail "Laconic needs Python $oldest or newer: found none (set PYTHON=/path/to/python3 to name one)."
    make_venv "$python"
    echo "$root" >$venv/.place
fi

rm -f $venv/.runtime $venv/.dev
if [ "$kind" = dev ]; then install requirements-dev.lock; else install requirements.lock; fi
# The build tools came with the lock, so this step needs no network.
run_pip --no-deps --no-index --no-build-isolation --editable .
rm -f "$log"
fingerprint requirements.lock >$venv/.runtime
[ "$kind" = dev ] && fingerprint requirements.lock requirements-dev.lock >$venv/.dev
say "Installed in $(($(date +%s) - started)) s."
