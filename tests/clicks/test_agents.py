"""What a User-Agent header tells."""

import json
from pathlib import Path

import pytest
from crawleruseragents import CRAWLER_USER_AGENTS_DATA
from hypothesis import example, given
from hypothesis import strategies as st

from laconic.clicks import agents as agents_module
from laconic.clicks import bots
from laconic.clicks.agents import NO_AGENT, Agents

_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
CHROME_ON_WINDOWS = f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_WEBKIT} Chrome/131.0.0.0 Safari/537.36"
CHROME_ON_ANDROID = f"Mozilla/5.0 (Linux; Android 10; K) {_WEBKIT} Chrome/131.0.0.0 Mobile Safari/537.36"
CHROME_ON_A_TABLET = f"Mozilla/5.0 (Linux; Android 10; K) {_WEBKIT} Chrome/131.0.0.0 Safari/537.36"
FIREFOX_ON_LINUX = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/18.1 Mobile/15E148 Safari/604.1"
)
IPAD = IPHONE.replace("iPhone; CPU iPhone OS", "iPad; CPU OS")
MAC = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/18.1 Safari/605.1.15"
)


@pytest.fixture(scope="module")
def agents() -> Agents:
    return Agents()


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder of public test cases beside the repository."""
    folder = Path(__file__).parents[3] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing: the public test cases are not part of the repository")
    return folder


def user_agents(file: Path) -> list[bytes]:
    return [json.loads(line)["ua"].encode() for line in file.read_text().splitlines()]


@pytest.mark.parametrize(
    ("header", "device_type", "browser", "os"),
    [
        (CHROME_ON_WINDOWS, "desktop", "Chrome", "Windows"),
        (FIREFOX_ON_LINUX, "desktop", "Firefox", "Linux"),
        (MAC, "desktop", "Safari", "macOS"),
        (IPHONE, "mobile", "Safari", "iOS"),
        (CHROME_ON_ANDROID, "mobile", "Chrome", "Android"),
        ("Opera/9.80 (J2ME/MIDP; Opera Mini/9.80) Presto/2.8", "mobile", "Opera Mini", ""),
        (
            "Mozilla/5.0 (Android 15; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0",
            "mobile",
            "Firefox",
            "Android",
        ),
        ("NOKIA-6080", "mobile", "", ""),
        (IPAD, "tablet", "Safari", "iOS"),
        (CHROME_ON_A_TABLET, "tablet", "Chrome", "Android"),
        (
            "Mozilla/5.0 (Android 15; Tablet; rv:133.0) Gecko/133.0 Firefox/133.0",
            "tablet",
            "Firefox",
            "Android",
        ),
        (CHROME_ON_A_TABLET.replace("; K", "; KFTRWI"), "tablet", "Chrome", "Android"),
        (CHROME_ON_A_TABLET.replace("; K", "; BRAVIA 4K VH2"), "unknown", "Chrome", "Android"),
        ("Mozilla/5.0 (PLAYSTATION 3; 3.55)", "unknown", "NetFront", ""),
        # Windows adds "Tablet PC" on ordinary computers.
        (
            "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; Tablet PC 2.0)",
            "desktop",
            "Internet Explorer",
            "Windows",
        ),
    ],
)
def test_a_persons_agent(agents: Agents, header: str, device_type: str, browser: str, os: str) -> None:
    """Device, browser and system; one name for a browser, whatever it runs on."""
    assert agents[header.encode()] == (header, device_type, browser, os, False)


@pytest.mark.parametrize(
    "header",
    [
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        IPHONE + " (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
        "WhatsApp/2.23.20.0 A",
        "curl/8.5.0",
        "Wget/1.21.4",
        "python-requests/2.32.3",
        "Go-http-client/2.0",
        f"Mozilla/5.0 (X11; Linux x86_64) {_WEBKIT} HeadlessChrome/131.0.0.0 Safari/537.36",
        # On no list: it gives itself away.
        "Mozilla/5.0 (compatible; NeverHeardOf-Crawler/0.1)",
        CHROME_ON_ANDROID + " (+https://example.com/why)",
        "acme-uptime-monitor",
        "Zephyr/1.0",
    ],
)
def test_a_programs_agent(agents: Agents, header: str) -> None:
    """Crawlers, previews, libraries and monitors are bots, whatever device they claim."""
    agent = agents[header.encode()]
    assert agent.is_bot
    assert agent.device_type == "bot"
    assert agent.text == header


@pytest.mark.parametrize(
    "header",
    [
        CHROME_ON_ANDROID.replace("; K", "; CUBOT NOTE 20"),
        CHROME_ON_ANDROID.replace("; K", "; M bot 60 Build/NRD90M"),
        CHROME_ON_ANDROID.replace("; K", "; HTC Butterfly Build/JDQ39"),
        # The list takes the build of an Android release for a crawler's name.
        CHROME_ON_ANDROID.replace("10; K", "15; CPH2557 Build/AP3A.240617.008; wv"),
        CHROME_ON_ANDROID + " Viber/27.4",
        CHROME_ON_WINDOWS.replace("Chrome", "Code/1.115.0 Chrome"),
        "WhatsApp/2.11.105 Android/2.3.5 Device/HTC-HTC_Desire_S",
        "SIE-IC35/1.0",
    ],
)
def test_a_phone_may_be_called_anything(agents: Agents, header: str) -> None:
    """The names of phones, apps and editors make nobody a bot."""
    assert not agents[header.encode()].is_bot


def test_public_collections(agents: Agents, data: Path) -> None:
    """At least 95 % of known bots are recognised, and at most 0.5 % of people are taken for one. Figures with -s."""
    programs = user_agents(data / "user_agents_bots.jsonl")
    people = user_agents(data / "user_agents_people.jsonl")
    recall = sum(agents[header].is_bot for header in programs) / len(programs)
    wrong = [header for header in people if agents[header].is_bot]
    print(f"\nbots recognised: {recall:.2%} of {len(programs)}")
    print(f"people taken for bots: {len(wrong) / len(people):.2%} of {len(people)}")
    assert recall >= 0.95
    assert len(wrong) <= 0.005 * len(people), wrong


def test_the_words_know_crawlers_without_their_list() -> None:
    """Most crawlers of the list would be recognised if it did not name them: as those of tomorrow will be."""
    words, _ = bots._set_of(f"(?i){words}" for words in bots._WORDS)
    known = [text for crawler in CRAWLER_USER_AGENTS_DATA for text in crawler["instances"]]
    share = sum(bool(words.Match(text)) for text in known) / len(known)
    print(f"\nby words alone: {share:.2%} of {len(known)}")
    assert share >= 0.8


def test_every_ambiguous_name_is_still_on_the_list() -> None:
    """An exception whose reason has gone is removed."""
    assert {crawler["pattern"] for crawler in CRAWLER_USER_AGENTS_DATA} | {bots._SITE_NAME} >= bots._AMBIGUOUS


def test_a_pattern_that_cannot_be_read_is_left_out() -> None:
    """One bad line of the list takes nothing from the others, nor their numbers."""
    found, known = bots._set_of(["one", "(?=two)", "three"])
    assert known == ["one", "three"]
    assert found.Match("three") == [known.index("three")]


@pytest.mark.parametrize("header", [b"", b"  ", b"\0"])
def test_no_agent(agents: Agents, header: bytes) -> None:
    """Without a header nothing is known, not even that it was a bot."""
    assert agents[header] == NO_AGENT


def test_stored_text(agents: Agents) -> None:
    """Wrong bytes are replaced and zero bytes go: every database takes the text."""
    assert agents[b"Fire\0fox \xff \xc3\xa9"].text == "Firefox \ufffd é"


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many agents come, only so many are remembered; those that come again are read again."""
    monkeypatch.setattr(agents_module, "_MOST_AGENTS", 3)
    agents = Agents()
    sent = [f"Firefox/{number}".encode() for number in range(8)] * 2
    assert [agents[header].text for header in sent] == [header.decode() for header in sent]
    assert len(agents) <= 3


@given(st.binary(max_size=1100))
@example(b"\xed\xa0\x80")
@example(b"(" * 1024)
@example(b"Mozilla/5.0 (Linux; Android" + b";" * 900)
def test_no_bytes_are_too_strange(agents: Agents, header: bytes) -> None:
    """Whatever is sent, there is an answer that can be stored."""
    agent = agents[header]
    assert agent.device_type in {"desktop", "mobile", "tablet", "bot", "unknown"}
    assert agent.is_bot == (agent.device_type == "bot")
    for text in (agent.text or "", agent.browser, agent.os):
        assert "\0" not in text
        text.encode()
