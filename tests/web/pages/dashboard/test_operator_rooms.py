"""What the operator sees and does: links of others, the installation, its tenants."""

import re

import pytest

from laconic.clicks.board import IngestNumbers
from laconic.clock import HOUR, MINUTE
from laconic.oversight.model import ReportDraft
from laconic.upkeep.reaper import Stats
from laconic.web.pages.dashboard.operator import checks
from laconic.workspaces.model import DEFAULT_DOMAIN_ID
from tests.web.pages.dashboard.office import Office

OPERATOR = "/dashboard/operator"


async def make_link(office: Office, code: str, url: str = "https://example.com/") -> None:
    from laconic.links.model import LinkDraft

    await office.api.services.creator.create(office.neighbour_id, None, LinkDraft(url, custom_code=code))


async def test_a_link_is_taken_down_and_put_back(office: Office) -> None:
    """Whoever owns it, by its address or its code; visitors read the reason."""
    await make_link(office, "sale24")
    page = await office.operator.follow(
        f"{OPERATOR}/takedowns", link="http://localhost:8000/sale24", reason="Phishing <b>"
    )
    assert "Phishing &lt;b&gt;" in page
    async with office.api.client() as client:
        assert (await client.get("/sale24")).status_code == 410
        assert "what it was" in await office.operator.follow(f"{OPERATOR}/takedowns/undo", link="sale24")
        assert (await client.get("/sale24")).status_code == 302


async def test_the_owner_s_trail_tells_of_the_operator(office: Office) -> None:
    """As the operator, and not as somebody who was once of the workspace; from where is none of its business."""
    await make_link(office, "sale25")
    await office.operator.send(f"{OPERATOR}/takedowns", link="sale25", reason="Phishing")
    trail = await office.neighbour.open("/dashboard/audit?action=link.take_down")
    assert "The operator of the installation</strong> took down the link <strong>sale25" in trail
    assert "this server" not in trail


@pytest.mark.parametrize(
    "link", ["nothere", "http://elsewhere.example/sale24", "two words", "https://", "a/b"]
)
async def test_a_link_that_is_not_there_is_told(office: Office, link: str) -> None:
    """404 beside the form, with what was typed."""
    refused = await office.operator.send(f"{OPERATOR}/takedowns", link=link, reason="Spam")
    assert refused.status_code == 404
    assert f'value="{link}"' in refused.text
    assert (await office.operator.send(f"{OPERATOR}/takedowns/undo", link=link)).status_code == 404


async def test_a_report_is_dismissed_or_upheld(every_office: Office) -> None:
    """What visitors say waits on the page; taking the link down from there closes it."""
    office = every_office
    services = office.api.services
    for code in ("good1", "evil1"):
        await make_link(office, code)
        link = await services.links.find_public(DEFAULT_DOMAIN_ID, code)
        assert link is not None
        message = f"<script>alert('{code}')</script>"
        await services.visitor_reports.send(DEFAULT_DOMAIN_ID, code, link, ReportDraft("phishing", message))
    page = await office.operator.open(f"{OPERATOR}/reports")
    assert "<script>alert" not in page
    good = re.search(r"good1.*?/reports/(\d+)/dismiss", page, re.DOTALL)
    assert good
    after = await office.operator.follow(f"{OPERATOR}/reports/{good[1]}/dismiss")
    assert "/good1" not in after
    assert (await office.operator.send(f"{OPERATOR}/reports/{good[1]}/dismiss")).status_code == 404
    url = "http://localhost:8000/evil1"
    after = await office.operator.follow(f"{OPERATOR}/takedowns", link=url, reason="Bad", back="reports")
    assert "No reports wait" in after
    assert "/evil1" in await office.operator.open(f"{OPERATOR}/reports?state=upheld")


async def test_a_host_is_blocked_and_unblocked(office: Office) -> None:
    """Links to it answer 410 meanwhile; what is no host comes back with the form."""
    await make_link(office, "there1", "https://evil.example/x")
    assert "is blocked" in await office.operator.follow(f"{OPERATOR}/blocked", host="evil.example")
    async with office.api.client() as client:
        assert (await client.get("/there1")).status_code == 410
        await office.operator.follow(f"{OPERATOR}/blocked/undo", host="evil.example")
        assert (await client.get("/there1")).status_code == 302
    refused = await office.operator.send(f"{OPERATOR}/blocked", host="not a host")
    assert refused.status_code == 422
    assert (await office.operator.send(f"{OPERATOR}/blocked/undo", host="evil.example")).status_code == 404


async def test_a_workspace_is_made_with_a_way_in(every_office: Office) -> None:
    """The link of its first admin is shown once; a slug that is taken is told; deleting takes the slug typed in."""
    office = every_office
    made = await office.operator.send(f"{OPERATOR}/workspaces", name="Beta", slug="beta")
    assert made.status_code == 201
    link = re.search(r"http://localhost:8000(/dashboard/invitation/[\w-]+)", made.text)
    assert link
    assert "admin" in (await office.api.client().get(link[1])).text
    assert (await office.operator.send(f"{OPERATOR}/workspaces", name="B", slug="beta")).status_code == 409
    beta = await office.api.services.tenants.find("beta")
    one = f"{OPERATOR}/workspaces/{beta.id}"
    assert link[1] not in await office.operator.open(one)
    assert "Renamed" in await office.operator.follow(one, name="Renamed")
    assert (await office.operator.send(f"{one}/invite")).status_code == 201
    assert (await office.operator.send(f"{one}/delete", slug="x")).status_code == 422
    assert "was deleted" in await office.operator.follow(f"{one}/delete", slug="beta")
    assert (await office.operator.client.get(one)).status_code == 404


async def test_a_clean_up_can_be_run_by_hand(office: Office) -> None:
    """It says what it did, and the run stands in the list."""
    assert "has not run yet" in await office.operator.open(f"{OPERATOR}/cleanup")
    page = await office.operator.follow(f"{OPERATOR}/cleanup")
    assert "Done in" in page
    assert "The last runs" in page


async def test_health_says_it_in_words(office: Office) -> None:
    """Every part has its card; a new installation without a background process is told that its pool is filling."""
    page = await office.operator.open(OPERATOR)
    for name in ("Database", "Redis", "Code pool", "Clicks", "Clean-up"):
        assert f"<h2>{name} " in page
    assert "It answers." in page
    assert "filled for the first time" in page


# The words themselves.

REPORT = {
    "status": "ok",
    "pool_size": 90_000,
    "thresholds": {"minimum": 100_000, "low": 50_000, "critical": 10_000},
    "rates": {"allocated_per_second": 12.5, "generated_per_second": 0.0},
    "minutes_to_exhaustion": 120.0,
}
RUNS = Stats(1_000 * HOUR, 7, 3, 10, 1, 4.2, is_running=False)


def test_a_pool_is_judged_by_its_level() -> None:
    """Enough, less than half, nearly empty; and not while it is filled for the first time."""
    moods = [
        checks.check_pool({**REPORT, "status": status}, is_critical=status == "critical").mood
        for status in ("off", "ok", "low", "critical")
    ]
    assert moods == ["good", "good", "warn", "bad"]
    assert checks.check_pool({**REPORT, "status": "critical"}, is_critical=False).mood == "warn"


def test_clicks_are_judged_by_delay_and_by_loss() -> None:
    """Late is a reason to look, lost within the hour a reason to act."""
    numbers, moment = IngestNumbers(applied=5, unknown_links=2), 1_000 * HOUR
    assert checks.check_clicks(numbers, 3.0, 0, 0, moment).mood == "good"
    late = checks.check_clicks(numbers, 600.0, 0, 0, moment)
    assert (late.mood, "10 min" in late.words) == ("warn", True)
    assert checks.check_clicks(numbers, 0.0, 4, moment - MINUTE, moment).mood == "bad"
    assert checks.check_clicks(numbers, 0.0, 4, moment - 2 * HOUR, moment).mood == "good"


def test_a_clean_up_that_does_not_come_is_told() -> None:
    """After several intervals without a run, and when it is switched off."""
    quarter = 15 * MINUTE
    moment = 1_000 * HOUR + quarter
    assert checks.check_cleanup(RUNS, moment, quarter, is_enabled=True).mood == "good"
    assert checks.check_cleanup(RUNS, moment + 3 * HOUR, quarter, is_enabled=True).mood == "warn"
    assert checks.check_cleanup(RUNS, moment, quarter, is_enabled=False).mood == "warn"


def test_servers_are_judged_by_what_they_say() -> None:
    """A database that is away is broken; Redis that is away is a reason to look, for all goes on."""
    breaker = checks.Breakers("the database", "open", 1, 4)
    away = {"database": "error", "error": "no route"}
    assert checks.check_database(away, {}, [breaker]).mood == "bad"
    assert checks.check_database({"database": "connected"}, {"database": 5_000_000}, []).mood == "good"
    assert checks.check_database({"database": "connected"}, {}, [breaker]).mood == "warn"
    assert [checks.check_redis(state, []).mood for state in ("off", "connected", "error")] == [
        "good",
        "good",
        "warn",
    ]
    found = [checks.Check("a", "good", ""), checks.Check("b", "bad", ""), checks.Check("c", "warn", "")]
    assert checks.worst(found) == "bad"
    assert checks.worst([]) == "good"
