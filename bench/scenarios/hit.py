"""Cached redirects over many links, beside nginx answering every path with the same static 302."""

from collections.abc import Callable

from bench import requests
from bench.report import Report, at_least, at_most, ratios
from bench.rounds import REDIRECT_P99, Round, add_rounds, interleave, measure_round
from bench.run import Run
from bench.servers.references import start_nginx
from bench.servers.server import Server
from bench.stores import Store
from bench.tools import find_tool
from bench.wrk import CONNECTIONS

_LINKS = 10_000
# What Chromium sends when a link in a page is followed.
BROWSER = """\
Connection: keep-alive
sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"
sec-ch-ua-mobile: ?0
sec-ch-ua-platform: "Linux"
Upgrade-Insecure-Requests: 1
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8
Sec-Fetch-Site: cross-site
Sec-Fetch-Mode: navigate
Sec-Fetch-Dest: document
Referer: https://news.example.org/
Accept-Encoding: gzip, deflate, br, zstd
Accept-Language: en-GB,en;q=0.9
"""


class _Ours:
    """Laconic with its links, and how many of its answers should be clicks by now."""

    def __init__(self, server: Server, codes: list[str]) -> None:
        self.codes = codes
        self.answered = 0
        self._server = server

    def turn(self, load: Callable[[Server], Round]) -> Round:
        # A memory entry is checked against the database after 60 s; it must not come due in the pause between turns.
        self.answered += requests.visit_each(self._server.port, self.codes)[302]
        turn = load(self._server)
        self.answered += turn.load.requests - turn.load.errors
        return turn


def measure(run: Run) -> Report:
    report = Report(
        "hit", f"cached redirects over {_LINKS:,} links, {CONNECTIONS} connections, beside nginx's static 302"
    )
    store = run.engine.new_store()
    with (
        run.laconic(store) as server,
        start_nginx(find_tool("nginx"), run.folder / "nginx", run.options.server_cores) as nginx,
    ):
        ours = _Ours(server, run.make_links(server, _LINKS).codes)
        for title, headers in (("bare headers", ""), ("browser's headers", BROWSER)):
            _measure_headers(run, report, ours, nginx, title, headers)
    _check_clicks(report, store, ours.answered, turns=2 * (run.options.rounds + 1))
    return report


def _measure_headers(run: Run, report: Report, ours: _Ours, nginx: Server, title: str, headers: str) -> None:
    codes = run.file("codes", ours.codes)
    lines = run.file("headers")
    lines.write_bytes(headers.replace("\n", "\r\n").encode())

    def load(server: Server) -> Round:
        return measure_round(
            server, lambda: run.wrk.run("cycle", server.port, run.options.seconds, str(codes), str(lines))
        )

    turns = interleave(
        f"hit, {title}",
        run.options.rounds,
        {"laconic": lambda: ours.turn(load), "nginx": lambda: load(nginx)},
    )
    add_rounds(report, f"{title}, laconic", turns["laconic"], REDIRECT_P99)
    add_rounds(report, f"{title}, nginx", turns["nginx"])
    static = [turn.per_answering_cpu for turn in turns["nginx"]]
    report.add(
        f"{title}, ratio: web worker, click journaled",
        ratios([turn.per_answering_cpu for turn in turns["laconic"]], static),
        target=at_least(0.6, goal=0.7),
    )
    report.add(
        f"{title}, ratio: all processes, click in the database",
        ratios([turn.per_cpu for turn in turns["laconic"]], static),
    )
    errors = sum(turn.load.errors for some in turns.values() for turn in some)
    report.add(f"{title}, errors", [errors], target=at_most(0))


def _check_clicks(report: Report, store: Store, answered: int, turns: int) -> None:
    """The promise behind the ratio. wrk leaves with requests under way: they may be clicks that it never counted."""
    recorded = store.clicks()
    report.add("clicks answered and not recorded", [max(0, answered - recorded)], target=at_most(0))
    report.add(
        "clicks recorded beyond those", [max(0, recorded - answered)], target=at_most(turns * CONNECTIONS)
    )
    store.remove()
