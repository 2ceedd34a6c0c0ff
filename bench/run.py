"""What the scenarios of one run share: the folder, the tools, the engine, and a database with a million links."""

import itertools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.options import Options
from bench.processes import Client, python
from bench.servers.laconic import Laconic
from bench.servers.server import Cpu, Server
from bench.servers.textbook import Textbook, TextbookStore
from bench.stores import Engine, PostgresEngine, SqliteEngine, Store
from bench.tools import find_tool
from bench.wrk import Wrk

_BULK_SECONDS = 1_800.0
_PREFIX = "laconic-bench-"


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What it took to make many links by one request."""

    codes: list[str]
    asked: int
    seconds: float
    client_share: float
    cpu: Cpu


@dataclass(frozen=True, slots=True)
class Filled:
    """A database with many links in it. Its server is stopped; whoever needs one starts it."""

    store: Store
    bulk: BulkResult


class Run:
    """Use `open_run`."""

    def __init__(self, options: Options, folder: Path, engine: Engine) -> None:
        self.options = options
        self.folder = folder
        self.engine = engine
        self._numbers = itertools.count(1)

    @cached_property
    def wrk(self) -> Wrk:
        return Wrk(find_tool("wrk"), self.folder, self.options.load_cores)

    @cached_property
    def filled(self) -> Filled:
        """Made when the first scenario asks for it, which is what `bulk` measures."""
        say(f"filling a database with {self.options.links:,} links")
        store = self.engine.new_store()
        with self.laconic(store) as server:
            return Filled(store, self.make_links(server, self.options.links))

    def laconic(self, store: Store, settings: Mapping[str, str] | None = None) -> Laconic:
        return Laconic(store, self.file("laconic.log"), cores=self.options.server_cores, settings=settings)

    def textbook(self, store: TextbookStore) -> Textbook:
        return Textbook(store, self.file("textbook.log"), cores=self.options.server_cores)

    def make_links(self, server: Server, count: int) -> BulkResult:
        file = self.file("codes")
        before = server.cpu()
        said = self.client("bulk", "--port", server.port, "--links", count, "--codes", file)
        told = json.loads(said.result(seconds=_BULK_SECONDS))
        server.settle()
        codes = file.read_text().split()
        return BulkResult(codes, count, told["seconds"], told["client_share"], server.cpu().since(before))

    def client(self, name: str, *arguments: Any) -> Client:
        return Client(python(f"bench.clients.{name}", *map(str, arguments)), cores=self.options.load_cores)

    def file(self, name: str, lines: Sequence[str] = ()) -> Path:
        """A file of its own name, with these lines."""
        path = self.folder / f"{next(self._numbers)}-{name}"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path


@contextmanager
def open_run(options: Options) -> Iterator[Run]:
    """Whatever happens inside: the engine is stopped and the folder removed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(_folder_in(options.folder or Path(tempfile.gettempdir()))))
        engine: Engine
        if options.engine == "sqlite":
            engine = SqliteEngine(folder)
        else:
            engine = PostgresEngine(folder, options.server_cores)
        stack.callback(engine.close)
        yield Run(options, folder, engine)


def _folder_in(parent: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder of this process. Those of runs that were killed are removed: they may be gigabytes."""
    for left in parent.glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists():
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent.resolve())


def say(text: str) -> None:
    """What is being done now, on the side of the figures."""
    print(f"… {text}", file=sys.stderr, flush=True)
