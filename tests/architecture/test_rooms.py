"""House rules that the import linter cannot express, each with the bug it prevents.

A rule is a function from one parsed module to its breaches. `ALLOWED` is the one way out: a place and the reason.
Which room may import which, and which library lives where, stands in pyproject.toml (import-linter).
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "laconic"
MOST_LINES = 400

# "rule file what": the reason. Keep it short; an entry that no longer matches anything fails.
ALLOWED = {
    "sql web/health.py SELECT": "reads no table: asks only whether the database answers",
    "workspace links/store.py is_free": "all tenants share a domain's codes; says yes or no, not whose",
    "workspace links/store.py find_public": "the preview is public: whoever has the code may see where it leads",
    "workspace links/store.py find_for_operator": "the operator takes a link down whoever owns it",
    "workspace links/store.py announce_changes": "tells caches that a code changed; reads no tenant's row",
    "workspace links/ended/store.py drop_old_changes": "housekeeping for all tenants: removes by age, gives nothing back",
    "workspace links/ended/store.py drop_old_keys": "housekeeping for all tenants: removes by age, gives nothing back",
    "workspace clicks/events/store.py months": "which months are kept at all; tells of no click",
    "workspace links/ended/store.py retire_expired": "housekeeping for all tenants: by expiry, gives nothing back",
    "workspace links/ended/store.py blank_gone": "housekeeping for all tenants: by age, gives nothing back",
    "workspace links/ended/store.py count_old_changes": "housekeeping for all tenants: a number for the operator",
    "workspace links/ended/store.py count_old_keys": "housekeeping for all tenants: a number for the operator",
    "workspace links/ended/store.py count_expired": "housekeeping for all tenants: a number for the operator",
    "workspace links/ended/store.py count_gone": "housekeeping for all tenants: a number for the operator",
    "workspace workspaces/store.py drop_expired_keys": "housekeeping for all tenants: by expiry",
    "workspace workspaces/store.py count_expired_keys": "housekeeping for all tenants: a number for the operator",
    "workspace clicks/events/store.py page_of_all": "the operator's archive: a month of all tenants goes as a whole",
    "workspace clicks/events/store.py count_all": "the same: whether the archive has all that is dropped",
    "workspace clicks/events/store.py first_of_all": "a moment for the retention sweep; tells of no click",
    "workspace clicks/events/store.py step_of_all": "the same",
    "workspace clicks/events/store.py erase_of": "housekeeping for all tenants: removes by age, gives nothing back",
    "workspace workspaces/store.py has_users": "of the whole installation: open mode ends with the first user",
    "workspace workspaces/domains/store.py follow_base_host": "the shared domain belongs to no tenant",
    "workspace workspaces/domains/store.py revision": "one number for all; reads no tenant's row",
    "workspace workspaces/domains/store.py changed_since": "the data plane serves all tenants' hosts",
    "workspace workspaces/domains/store.py blocked_since": "what the operator blocks is blocked for all",
    "workspace workspaces/store.py note_uses": "each row names its workspace; a date, gives nothing back",
    "workspace workspaces/audit/store.py insert_events_of": "takes the workspaces, and refuses an event of any other",
    "workspace workspaces/store.py find_key": "the secret's hash is what tells the workspace",
    "workspace workspaces/store.py find_slug": "a slug names the workspace; for sign-in and the operator",
    "workspace workspaces/store.py list_workspaces": "for the operator, who sees all tenants",
    "workspace workspaces/store.py deleted_workspaces": "housekeeping for all tenants: which are to be emptied",
    "workspace workspaces/people/store.py find_by_email": "sign-in knows the e-mail before the workspace",
    "workspace workspaces/people/store.py find_by_subject": "the identity provider's subject tells the workspaces",
    "workspace workspaces/people/store.py unbound_by_email": "sign-in knows the e-mail before the workspace",
    "workspace workspaces/people/store.py find_session": "the token's hash is what tells the workspace",
    "workspace workspaces/people/store.py find_invitation": "the token's hash is what tells the workspace",
    "workspace workspaces/domains/store.py due_proofs": "upkeep looks for proofs of all tenants",
    "workspace workspaces/domains/store.py find_lapsed": "whoever proves a host asks whether its holder has lost it",
    "workspace workspaces/resets/store.py find_reset": "the token's hash is what tells the workspace",
    "workspace workspaces/people/store.py insert_setup": "the set-up link belongs to the installation",
    "workspace workspaces/people/store.py has_any_user": "of the whole installation: the set-up link ends with it",
    "workspace workspaces/people/store.py drop_old_sessions": "housekeeping for all tenants: removes by age",
    "workspace workspaces/people/store.py count_old_sessions": "housekeeping for all tenants: a number for the operator",
    "workspace workspaces/people/store.py blocked_until": "wrong sign-ins, before anybody knows whose account it is",
    "workspace workspaces/people/store.py forgive": "wrong sign-ins, by a keyed hash of what is counted",
    "workspace workspaces/people/store.py lock_failures": "wrong sign-ins, by a keyed hash of what is counted",
    "workspace workspaces/people/store.py save_failures": "wrong sign-ins, by a keyed hash of what is counted",
}


@dataclass(frozen=True)
class Module:
    path: str  # relative to src/laconic, with slashes
    tree: ast.Module
    lines: int

    @classmethod
    def from_file(cls, file: Path) -> "Module":
        return cls.from_text(file.relative_to(SOURCE).as_posix(), file.read_text())

    @classmethod
    def from_text(cls, path: str, text: str) -> "Module":
        return cls(path, ast.parse(text), len(text.splitlines()))

    def is_in(self, *places: str) -> bool:
        """A place is a file, or a folder with a slash at its end."""
        return any(
            self.path == place or (place.endswith("/") and self.path.startswith(place)) for place in places
        )

    def strings(self) -> Iterator[tuple[int, str]]:
        """String constants that are not docstrings; the constant parts of f-strings too."""
        prose = {
            id(node.body[0].value)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                yield node.lineno, node.value

    def names(self) -> Iterator[tuple[int, str]]:
        """Every identifier, imported module and attribute."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                    yield node.lineno, name
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    yield node.lineno, name
                case ast.arg(arg=name):
                    yield node.lineno, name
                case ast.Import() | ast.ImportFrom():
                    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                    for alias in node.names:
                        yield node.lineno, f"{module}.{alias.name}"

    def calls_of(self, module: str, functions: frozenset[str]) -> Iterator[tuple[int, str]]:
        """Uses of `module.function`, and `from module import function`."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
                    if owner == module and name in functions:
                        yield node.lineno, f"{owner}.{name}"
                case ast.ImportFrom(module=source) if source == module:
                    for alias in node.names:
                        if alias.name in functions:
                            yield node.lineno, f"{source}.{alias.name}"


Breach = tuple[str, str]  # what, in a word that ALLOWED can name; and where
Rule = Callable[[Module], Iterator[Breach]]

_ENGINES = re.compile(r"sqlite|postgres|asyncpg|apsw", re.IGNORECASE)


def engine(module: Module) -> Iterator[Breach]:
    """No engine is named outside storage/.

    An `if engine == "sqlite"` in a store is how the second engine rots: each one is a path that only one engine's
    tests walk, and a well-known server has 69 of them. What differs is a verb of `Database`.
    """
    if module.is_in("storage/", "settings.py", "cli/"):
        return
    for line, text in (*module.strings(), *module.names()):
        found = _ENGINES.search(text)
        if found:
            yield found.group().lower(), f"line {line}: {text[:60]!r}"


_CLOCK = {
    "time": frozenset({"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}),
    "datetime": frozenset({"now", "utcnow", "today"}),
    "date": frozenset({"today"}),
}


def time(module: Module) -> Iterator[Breach]:
    """Only clock.py reads the time.

    A test that moves the clock must move all of it: an expiry judged by `clock.now` and a cache aged by
    `time.time()` disagree only on the day an operator's machine steps its clock.
    """
    if module.is_in("clock.py"):
        return
    for owner, functions in _CLOCK.items():
        for line, text in module.calls_of(owner, functions):
            yield text, f"line {line}: {text}"


def environment(module: Module) -> Iterator[Breach]:
    """Only settings.py reads the environment.

    A variable read in a corner is a setting that no page documents, no start-up check validates and
    `laconic.toml` cannot set.
    """
    if module.is_in("settings.py"):
        return
    for line, text in module.calls_of("os", frozenset({"environ", "environb", "getenv", "putenv"})):
        yield text, f"line {line}: {text}"


_SQL = re.compile(
    r"\b(SELECT\s|INSERT\s+INTO\b|UPDATE\s+\w+\s+SET\b|DELETE\s+FROM\b|CREATE\s+(TABLE|INDEX|VIEW)\b|ORDER\s+BY\b"
    r"|WHERE\s|RETURNING\s|LEFT\s+JOIN\b|PRAGMA\s)"
)


def sql(module: Module) -> Iterator[Breach]:
    """SQL stands in the store.py of the noun it changes, in redirect/lookup.py, or in storage/.

    A statement elsewhere escapes the rule that follows (a workspace for every tenant-owned row) and the reader who
    asks "who writes this table?".
    """
    if module.is_in("storage/", "redirect/lookup.py") or module.path.endswith("/store.py"):
        return
    for line, text in module.strings():
        found = _SQL.search(text)
        if found:
            yield found.group().strip(), f"line {line}: {text[:60]!r}"


def workspace(module: Module) -> Iterator[Breach]:
    """Whatever reaches the database in a tenant-owned store takes `workspace_id`.

    One statement without it is one tenant reading another's links by guessing an id (promise P8). What awaits
    nothing cannot reach the database.
    """
    in_tenants = module.is_in("links/", "workspaces/", "clicks/reports/", "clicks/events/")
    if not in_tenants or not module.path.endswith("/store.py"):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.AsyncFunctionDef) and not node.name.startswith("_"):
            names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
            # A function inside a method is that method's own; its arguments are not an interface.
            is_public = "self" in names or node in module.tree.body
            if is_public and "workspace_id" not in names:
                yield node.name, f"line {node.lineno}: {node.name}()"


def length(module: Module) -> Iterator[Breach]:
    """A module has at most 400 lines.

    Past that, nobody reads the whole of it before changing a part.
    """
    if module.lines > MOST_LINES:
        yield "length", f"{module.lines} lines"


_EMPTY_NAMES = re.compile(r"(^|_)(utils?|common|helpers?|managers?|services?|misc)(_|$)")


def name(module: Module) -> Iterator[Breach]:
    """No module is called utils, common, helpers, manager, service or misc.

    Such a name accepts everything, so everything ends up in it. Name the file after the verb or the idea.
    """
    for part in module.path.removesuffix(".py").split("/"):
        if _EMPTY_NAMES.search(part):
            yield part, module.path


RULES: tuple[Rule, ...] = (engine, time, environment, sql, workspace, length, name)


def modules() -> list[Module]:
    return [Module.from_file(file) for file in sorted(SOURCE.rglob("*.py"))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_holds_everywhere(rule: Rule) -> None:
    """No module breaks the rule, save where ALLOWED gives a reason."""
    breaches = [
        f"src/laconic/{module.path}, {where}"
        for module in modules()
        for what, where in rule(module)
        if f"{rule.__name__} {module.path} {what}" not in ALLOWED
    ]
    assert not breaches, f"{rule.__doc__}\n" + "\n".join(breaches)


def test_every_exception_is_still_needed() -> None:
    """An entry of ALLOWED whose reason has gone is removed, so that the list stays short."""
    used = {
        f"{rule.__name__} {module.path} {what}"
        for rule in RULES
        for module in modules()
        for what, _ in rule(module)
    }
    assert ALLOWED.keys() <= used


SAMPLES: tuple[tuple[Rule, str, str], ...] = (
    (engine, "links/store.py", "def f(engine):\n    return engine == 'sqlite'"),
    (engine, "wiring.py", "from laconic.storage.postgres import PostgresDatabase"),
    (engine, "redirect/cache.py", "def f(url):\n    return f'postgresql://{url}'"),
    (time, "redirect/cache.py", "import time\nage = time.monotonic()"),
    (time, "redirect/cache.py", "from time import time_ns as nanoseconds"),
    (time, "web/health.py", "import datetime\nstamp = datetime.datetime.now(datetime.UTC)"),
    (environment, "web/app.py", "import os\nx = os.environ['LACONIC_X']"),
    (environment, "web/app.py", "from os import getenv"),
    (sql, "links/browse.py", "x = 'SELECT id FROM short_link'"),
    (sql, "web/api/links.py", "def f(order):\n    return f' ORDER BY {order}'"),
    (workspace, "links/store.py", "class Store:\n    async def find(self, code): ..."),
    (workspace, "workspaces/store.py", "async def find(statements, email): ..."),
    (workspace, "clicks/reports/store.py", "class Store:\n    async def series(self, link_id): ..."),
    (workspace, "workspaces/people/store.py", "class Store:\n    async def find(self, email): ..."),
    (length, "links/store.py", "x = 1\n" * 401),
    (name, "links/utils.py", ""),
    (name, "web/link_service.py", ""),
)


@pytest.mark.parametrize(("rule", "path", "text"), SAMPLES)
def test_rule_sees_a_breach(rule: Rule, path: str, text: str) -> None:
    """A rule that finds nothing wrong here would find nothing wrong anywhere."""
    assert list(rule(Module.from_text(path, text)))


INNOCENT: tuple[tuple[Rule, str, str], ...] = (
    (engine, "links/store.py", '"""SQLite and PostgreSQL take the same statement."""'),
    (time, "serve/supervisor.py", "import time\ntime.sleep(0.1)"),
    (sql, "web/api/links.py", "methods = ['DELETE', 'UPDATE']\ntext = 'Where does it go? Select one.'"),
    (workspace, "links/store.py", "class Store:\n    async def find(self, workspace_id, code): ..."),
    (workspace, "codes/store.py", "class Store:\n    async def lease(self, count): ..."),
    (name, "links/browse.py", ""),
)


@pytest.mark.parametrize(("rule", "path", "text"), INNOCENT)
def test_rule_leaves_the_innocent_alone(rule: Rule, path: str, text: str) -> None:
    """Prose, HTTP methods and sleeping are no breaches."""
    assert not list(rule(Module.from_text(path, text)))
