"""What a User-Agent header tells: device, browser, system, and whether a program sent it."""

import re
from typing import TYPE_CHECKING, NamedTuple

from laconic.clicks.bots import Bots
from laconic.clicks.devices import Devices
from laconic.clicks.headers import text_of

if TYPE_CHECKING:
    from ua_parser.core import PartialResult

_MOST_AGENTS = 20_000
# Browsers stay below; each further character of junk costs a microsecond.
_LONGEST_LOOKED_AT = 512

# ua-parser tells a browser's form for phones apart from its other one; here the device does that.
_FORM = re.compile(r"^Mobile | Mobile\b| (?:iOS|Android|Touch|UI/WKWebView|WebView)$")
_BROWSERS = {"Other": "", "IE": "Internet Explorer"}
_SYSTEMS = {"Other": "", "Mac OS X": "macOS"}


class Agent(NamedTuple):
    """What is kept of a User-Agent header."""

    # As sent, None when there was none.
    text: str | None
    # desktop, mobile, tablet, bot or unknown
    device_type: str
    # Such as "Firefox"; empty when unknown. Of a bot, its name where it is known.
    browser: str
    # Such as "Android"; empty when unknown.
    os: str
    # Crawlers, link previews, monitors, libraries.
    is_bot: bool


NO_AGENT = Agent(None, "unknown", "", "", False)


class Agents(dict[bytes, Agent]):
    """`agents[header]`. A new one costs some 30 to 100 us, a known one a dictionary read.

    Loading takes some 30 MiB and 0.3 s: for the process that ingests, no other.
    """

    def __init__(self) -> None:
        from ua_parser.core import Domain
        from ua_parser.loaders import load_lazy_builtins
        from ua_parser.regex import Resolver

        super().__init__()
        browsers, systems, _ = load_lazy_builtins()
        # Without the patterns for brands and models, which nobody asks for: half the memory, half the time.
        self._resolve = Resolver((browsers, systems, []))
        self._domains = Domain.USER_AGENT | Domain.OS
        self._bots = Bots()
        self._devices = Devices()

    def __missing__(self, header: bytes) -> Agent:
        if len(self) >= _MOST_AGENTS:
            self.clear()
        agent = self[header] = self._read(header)
        return agent

    def _read(self, header: bytes) -> Agent:
        text = text_of(header)
        if not text.strip():
            return NO_AGENT
        looked_at = text[:_LONGEST_LOOKED_AT]
        found = self._resolve(looked_at, self._domains)
        browser, system = _browser_of(found), _system_of(found)
        device = self._devices.named_by(looked_at)
        if self._bots.named_by(looked_at) or (
            not (device or browser or system) and _names_no_model(looked_at)
        ):
            return Agent(text, "bot", browser, system, True)
        return Agent(text, device or "unknown", browser, system, False)


def _browser_of(found: "PartialResult") -> str:
    family = found.user_agent.family if found.user_agent else ""
    name = _FORM.sub("", family)
    return _BROWSERS.get(name, name)


def _system_of(found: "PartialResult") -> str:
    family = found.os.family if found.os else ""
    return _SYSTEMS.get(family, family)


def _names_no_model(text: str) -> bool:
    """What names no system, no browser and no device is a program; old phones name nothing but their number."""
    return not any(character.isdigit() for character in text.partition("/")[0])
