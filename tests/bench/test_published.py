"""The pages that `make bench` writes: figures of the last run of each scenario, and what people wrote around them."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from bench import benchmarks_page, growth_page, plot, published, readme_table
from bench.report import Report, at_least, at_most

MACHINE = {
    "cores": 2,
    "processor": "Some",
    "kernel": "6",
    "python": "3.11",
    "laconic": "0.1",
    "load": 0.1,
    "disk": "ext4",
    "sync_ms": 0.2,
    "engine": "sqlite",
    "rounds": 3,
    "seconds": 2,
    "pinned": False,
}
MARKS = "Before.\n\n<!-- begin: by a program -->\n\nold\n\n<!-- end -->\n\nAfter.\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    hit = Report("hit", "cached redirects")
    hit.add("ratio", [0.5, 0.54, 0.6], target=at_least(0.6, goal=0.7))
    hit.add("errors", [0], target=at_most(0))
    for share in ("p50", "p95", "p99"):
        hit.add(f"browser's headers, laconic: {share}", [1.5], "ms")
    lookups = Report("lookups", "cost against size")
    lookups.add_series("look-up, CPU", "links", "µs", {1_000_000: 10.0, 10_000_000: 11.0})
    lookups.add_series("disk", "links", "bytes a link", {1_000_000: 200.0, 10_000_000: 200.0})
    file = tmp_path / "benchmarks.json"
    for report in (hit, lookups):
        published.keep(report, MACHINE, "make bench", 61.4, file=file)
    return file


def test_a_later_run_replaces_its_scenario_alone(file: Path) -> None:
    """What was not measured again keeps its figures."""
    published.keep(Report("hit", "again"), MACHINE, 'make bench ARGS="hit"', 5, file=file)
    kept = published.read(file)
    assert (kept["hit"]["title"], kept["hit"]["command"]) == ("again", 'make bench ARGS="hit"')
    assert kept["lookups"]["took_seconds"] == 61


def test_a_run_with_a_label_stands_beside_the_usual_one(file: Path, tmp_path: Path) -> None:
    """Neither replaces the other; arithmetic goes by the one that went further."""
    large = Report("lookups", "cost against size")
    large.add("ratio", [1.2], target=at_most(1.5))
    large.add_series("look-up, CPU", "links", "µs", {1_000_000: 10.0, 100_000_000: 12.0})
    for number in (1, 2):
        published.keep(large, MACHINE, "make bench", number, "large", file)
    kept = published.read(file)
    assert (kept["lookups"]["took_seconds"], kept["lookups, large"]["took_seconds"]) == (61, 2)
    page = tmp_path / "page.md"
    page.write_text(MARKS)
    benchmarks_page.write(page, file)
    assert "| `lookups`, large | ratio | 1.2 |  | ≤ 1.5 | yes |" in page.read_text()
    growth_page.write(page, file)
    assert "![lookups, large: look-up, CPU](growth/lookups-large-look-up-cpu.svg)" in page.read_text()
    assert "Look-up: 12 µs of CPU at 100,000,000 links" in page.read_text()


def test_the_page_says_by_how_much_a_goal_is_missed(file: Path, tmp_path: Path) -> None:
    """With its spread; what people wrote stays, what the last run wrote goes."""
    page = tmp_path / "page.md"
    page.write_text(MARKS)
    benchmarks_page.write(page, file)
    text = page.read_text()
    assert "| `hit` | ratio | 0.54 | 0.5 … 0.6 | ≥ 0.6, goal 0.7 | **missed by 10 %** |" in text
    assert "| all | kinds of wrong or lost answers | 0 |  | 0 | yes |" in text
    assert "| redirect, 64 connections at the limit | < 100 ms | 1.5 ms | 1.5 ms | 1.5 ms |" in text
    assert "2 cores of Some" in text
    assert text.startswith("Before.")
    assert text.endswith("After.\n")
    assert "old" not in text
    benchmarks_page.write(page, file)
    assert page.read_text() == text


def test_a_page_without_a_place_is_left_alone(file: Path, tmp_path: Path) -> None:
    """Rather than overwritten."""
    page = tmp_path / "page.md"
    page.write_text("Mine.\n")
    with pytest.raises(RuntimeError):
        benchmarks_page.write(page, file)
    assert page.read_text() == "Mine.\n"


def test_the_growth_page_shows_plots_laws_and_arithmetic(file: Path, tmp_path: Path) -> None:
    """From the same figures: at a billion links a look-up that takes 1 µs more for each power of ten takes 13."""
    page = tmp_path / "growth.md"
    page.write_text(MARKS)
    growth_page.write(page, file)
    text = page.read_text()
    assert "![lookups: look-up, CPU](growth/lookups-look-up-cpu.svg)" in text
    assert "| with the logarithm, as an index's depth does (n^0.04) | 13 µs |" in text
    assert "200 bytes a link with its indexes, measured at 10,000,000 links × 10^9 = 186 GiB" in text
    image = ElementTree.parse(tmp_path / "growth" / "lookups-look-up-cpu.svg").getroot()
    assert len(image.findall("{http://www.w3.org/2000/svg}circle")) == 2


def test_laws_are_told_apart() -> None:
    """Flat, logarithmic, in proportion."""
    sizes = [10**power for power in range(3, 8)]
    assert growth_page.exponent(dict.fromkeys(sizes, 5.0)) == pytest.approx(0)
    assert growth_page.exponent({size: 3.0 * size for size in sizes}) == pytest.approx(1)
    assert growth_page.law(dict.fromkeys(sizes, 5.0)).startswith("does not grow")
    assert growth_page.law({size: 3.0 * size for size in sizes}).startswith("in proportion")


def test_a_plot_holds_all_its_points() -> None:
    """No point lies outside the picture, and higher costs lie higher."""
    image = ElementTree.fromstring(plot.draw("a < b", "links", "µs", {1_000: 0.2, 50_000: 7.7, 10**8: 31.0}))
    circles = image.findall("{http://www.w3.org/2000/svg}circle")
    across = [float(circle.attrib["cx"]) for circle in circles]
    down = [float(circle.attrib["cy"]) for circle in circles]
    assert across == sorted(across)
    assert down == sorted(down, reverse=True)
    assert all(0 < place < 640 for place in across)
    assert all(0 < place < 280 for place in down)


def test_the_readme_tells_what_is_known(file: Path, tmp_path: Path) -> None:
    """A row of which a figure is missing is left out; what people wrote stays."""
    for scenario, names in {"bulk": ["links/s"], "create": ["creates/s", "p99"]}.items():
        report = Report(scenario, "something")
        for name in names:
            report.add(name, [31_000.4])
        published.keep(report, MACHINE, "make bench", 3, file=file)
    page = tmp_path / "README.md"
    page.write_text(MARKS)
    readme_table.write(page, file)
    text = page.read_text()
    assert "| bulk import, each link durable | 31,000 links a second |  |  |" in text
    assert "single creates" not in text
    assert text.startswith("Before.")
    assert text.endswith("After.\n")
    assert "old" not in text


def test_the_readme_tells_what_the_file_holds() -> None:
    """All rows of it: a figure that was given another name would be missed in silence."""
    table = readme_table.table(published.read())
    assert len(table.splitlines()) == len(readme_table.ROWS) + 2
    assert table in readme_table.PAGE.read_text()
