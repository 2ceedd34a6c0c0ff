"""The benchmark program itself, with hardly any load: it starts, counts, looks into the data and leaves nothing."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import proc, requests
from bench.options import Options, parse
from bench.report import Figure, Report, at_least, at_most, ratios, write_json
from bench.run import Run, open_run
from bench.scenarios import SCENARIOS
from bench.servers.laconic import ForgettingLaconic, HashingLaconic
from bench.servers.references import start_bare_fastapi
from bench.wrk import Load

LINKS = 2_500
CLICKS = 3_000


def options(folder: Path) -> Options:
    few = ["--rounds", "1", "--links", str(LINKS), "--journaled", str(CLICKS)]
    return parse(["start", *few, "--folder", str(folder)], list(SCENARIOS))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("bench")
    with open_run(options(folder)) as run:
        yield run
    assert list(folder.iterdir()) == []


def test_start_is_measured(run: Run) -> None:
    """A whole scenario: both starts take some time, and the report says which."""
    report = SCENARIOS["start"](run)
    first, second = report.figures
    assert first.median > 0
    assert second.median > 0
    assert "second start" in report.as_text()


def test_bulk_makes_the_links_that_the_database_holds(run: Run) -> None:
    """The codes that later scenarios ask for come from the answers."""
    filled = run.filled
    assert len(filled.bulk.codes) == LINKS
    assert set(filled.bulk.codes) == set(filled.store.codes())
    assert SCENARIOS["bulk"](run).figures[-1].median == 0


def test_clicks_are_counted_and_processes_told_apart(run: Run) -> None:
    """Every visit is a click in the database, the worker is one process of several, and none outlives the server."""
    store = run.engine.new_store()
    with run.laconic(store) as server:
        codes = run.make_links(server, 50).codes
        assert requests.visit_each(server.port, codes * 3) == {302: 150}
        assert server.settle()
        (worker,) = server.answering()
        processes = proc.tree(server.roots[0])
        assert worker in processes[1:]
        assert proc.memory(worker).rss > proc.memory(worker).pss > 0
        used = server.cpu()
        assert 0 < used.answering < used.all
    assert not [pid for pid in processes if Path("/proc", str(pid)).exists()]
    assert store.clicks() == 150


def test_ingest_applies_every_click_of_the_journal(run: Run) -> None:
    """And the cost of a start is taken off what that took."""
    figures = {figure.name: figure.median for figure in SCENARIOS["ingest"](run).figures}
    assert figures["clicks journaled and not counted"] == 0
    assert figures["CPU of a start without clicks, taken off"] > 0
    assert figures["clicks per CPU-second, all processes"] != 0


def test_a_server_without_a_journal_answers_and_counts_nothing(run: Run) -> None:
    """What `journal` compares with does the same work but for the recording."""
    store = run.engine.new_store()
    with ForgettingLaconic(store, run.file("laconic.log"), cores=frozenset()) as server:
        codes = run.make_links(server, 20).codes
        assert requests.visit_each(server.port, codes) == {302: 20}
    assert store.clicks() == 0


def test_the_worker_hashes_when_told(run: Run) -> None:
    """What `quiet` lays upon the worker really runs in it."""
    store = run.engine.new_store()
    with HashingLaconic(store, run.file("laconic.log"), cores=frozenset()) as server:
        before = server.cpu().answering
        with server.hashing():
            deadline = time.monotonic() + 60
            # One hash takes well under a second of a core.
            while server.cpu().answering < before + 1 and time.monotonic() < deadline:
                time.sleep(0.1)
        assert server.hashes() > 0


def test_the_steady_client_answers_for_every_request(run: Run) -> None:
    """It sends at its rate, times each answer and says so when one is no redirect."""
    with start_bare_fastapi(run.folder, frozenset()) as server:
        codes = run.file("codes", ["a", "b", "nothing/here"])
        asked = ("--port", server.port, "--codes", codes, "--rate", 200, "--seconds", 0.3)
        told = json.loads(run.client("steady", *asked).result(seconds=60))
    assert (told["answered"], told["missing"]) == (60, 0)
    assert told["bad"] >= 20
    assert 0 < told["p50"] <= told["p99"] <= told["longest"]


def test_cpu_time_is_that_of_the_process() -> None:
    """Against the process's own clock, within the kernel's ticks."""
    before, clock = proc.cpu_seconds([os.getpid()]), time.process_time()
    while time.process_time() < clock + 0.2:
        pass
    assert proc.cpu_seconds([os.getpid()]) - before == pytest.approx(0.2, abs=0.1)


def test_a_figure_says_what_it_reached() -> None:
    """Median, spread and verdict; floor and goal apart."""
    figure = Figure("ratio", [0.5, 0.65, 0.9], target=at_least(0.6, goal=0.7))
    assert figure.as_row() == ("ratio", "0.65", "0.5 … 0.9", "PASS  >= 0.6, goal 0.7 not reached")
    assert at_most(50).verdict(50.1).startswith("short")
    assert ratios([1, 4], [2, 2]) == [0.5, 2]


def test_a_report_is_written_for_programs(tmp_path: Path) -> None:
    """Every round's value is kept."""
    report = Report("hit", "title")
    report.add("requests/s", [1, 3], "", at_least(2))
    write_json(tmp_path / "out.json", {"cores": 2}, [report])
    (figure,) = json.loads((tmp_path / "out.json").read_text())["reports"][0]["figures"]
    assert (figure["median"], figure["rounds"], figure["verdict"]) == (2, [1, 3], "PASS  >= 2")


def test_what_wrk_says_is_read() -> None:
    """Any kind of error counts; microseconds become milliseconds."""
    line = (
        'RESULT {"requests": 10, "microseconds": 2000000, "bytes": 99, "bad_status": 1, "broken": 2, "created": 4,'
        ' "refused": 3, "p50": 1500.0, "p95": 2500.0, "p99": 3500.0, "longest": 4500.0}'
    )
    load = Load.from_output(f"Running 2s test\n{line}\n", 0.5)
    assert (load.seconds, load.errors, load.created, load.p99) == (2.0, 6, 4, 3.5)


def test_unknown_scenarios_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the names of those there are."""
    with pytest.raises(SystemExit):
        parse(["hits"], list(SCENARIOS))
    assert "hit, hot, pipeline" in capsys.readouterr().err


def test_without_arguments_the_page_is_written_within_a_quarter_of_an_hour() -> None:
    """What `make bench` alone asks for exists, and its command is what a reader would type; else nothing is published."""
    usual = parse([], list(SCENARIOS))
    assert usual.publishes
    assert usual.minutes < 15
    assert usual.command == "make bench"
    assert {"hit", "pipeline", "lookups", "killed"} <= set(usual.scenarios)
    some = parse(["lookups", "--sizes", "2000,1000"], list(SCENARIOS))
    assert (some.publishes, some.sizes) == (False, (1_000, 2_000))
    assert some.command == 'make bench ARGS="lookups --sizes 2000,1000"'
