"""Who is no person: crawlers, link previews, monitors, libraries.

Two sources, each compiled into a set of patterns that is matched in one pass: a public list of crawlers by name,
and words with which programs give themselves away, for those that the list does not know.
"""

import re
from collections.abc import Iterable
from typing import Any

# In a program's own description of itself; hardly ever in what a browser sends. Matched in any letter case.
_WORDS = (
    # "CUBOT" makes phones.
    r"(?:^|[^u]|[^c]u|^u)bots?(?:[^a-z]|$)",
    r"robot|crawl|spider|slurp|scrap(?:er|y|ing)|harvest|fetch|archiv(?:er|e\.org)|index(?:er|ing)|daumo?a? ?[/\d]",
    r"headless|phantomjs|slimerjs|puppeteer|selenium|playwright|cypress|lighthouse|page ?speed|\bptst[/ ]",
    r"monitor(?:[^.]|$)|uptime|pingdom|synthetic|health[- _]?check|gomez|neustar|diagnostic|\bprobe|inspect(?:or|ion)",
    r"(?:link|ur[li]|web|page|image|site|bing|chat)[ -]?preview|externalhit|externalua|\bfacebook(?:platform|catalog)",
    r"link[- ]?(?:check|valet|expander)|checker|check(?:$|/|\))|validat(?:or|ion)|verifier|analy[sz]er|survey|audit",
    r"\bscan(?:ner|ning)?\b|gobuster|nuclei|masscan|zgrab|whatcms|whatweb",
    r"thumb(?:nail|shot|/)|screenshots?|browsershot|webthumb|websnapr|favicon|capture|transcoder|page ?peeker",
    r"\brss\b|\bfeed|feed(?:ly|burner|bin|parser|reader)|subscribers[ ;=]|\bsitemap|\bseo\b|backlink|search ?engine",
    r"mnogosearch|^\w*search(?:$|[/.])|^yandex[/ ]|yandex\.translate|^yahoo[:! ]|^mail\.ru|^google(?:$|[-_])",
    r"google(?:-| |_|; )(?:adwords|ads|amphtml|assess|calendar|hotel|http|page|partner|pp|publisher|read|safety)",
    r"google(?:-| |_|; )(?:search ?(?:byimage|console)|shopping|site|speakr|structured|web ?light|youtube)|duplexweb",
    # An address to complain to. Browsers send none, but for a component that names its maker's page.
    r"\+ ?https?:|\bhttps?://(?:[^b]|b[^s])",
    r"[\w.-]@[\w-]+\.[a-z]| at [\w.-]+(?: dot |\.)[a-z]+\)|\bwww\.[^b]",
    # Libraries and tools.
    r"http[-_ ]?client|libwww|\blwp[-:]|urllib|httplib|aiohttp|httpx|pycurl|http_?request|winhttp|guzzle|faraday",
    r"mechanize|postman|insomnia|apachebench|wordpress|drupal|joomla|nutch|heritrix|request-promise|curl (?:client|class)",
    r"^(?:curl|wget|python|php|perl|ruby|java|go|node|deno|bun|dart|rust|okhttp|axios|got|undici)(?:$|[-/ _:.;])",
    r"^(?:typhoeus|jakarta|apache|nginx|varnish|siege|vegeta|collectd|munin|cloudflare|datadog)(?:$|[-/ _:.;])",
    # A name in the place where browsers say their system, and nothing behind it.
    r"^mozilla/\d\.\d \((?:compatible; ?)?[\w.-]*agent[ /\d.]*\)|\b[\w.-]{3,}agent[/ ]\d|^[\w.]*agent$",
    r"^mozilla/5\.0 \(compatible; ?[^;()]+\)$|^mozilla/\d\.\d [\w.-]+$|firefox mutant",
)

# A site's name: a program's, but also that of an app or of the company that sold the phone.
_SITE_NAME = r"(?i)(?:^|[ (/])[\w-]+\.(?:com|net|org|io|de|ru|cz|fr|it|pl|nl|eu)(?:$|[/);,]| [\w/.-]+$)"
# These, and names of the list that are also names of what people use (browsers, app windows, editors), count where
# the agent names no system of a person's.
_AMBIGUOUS = frozenset(
    (
        _SITE_NAME,
        r"008\/",
        "Blackboard",
        r"Code\/1\.",
        "Fluid",
        "NewsBlur",
        "Podimo",
        "Sogou",
        r"Trae\/",
        "Viber",
    )
)
_PERSONAL_SYSTEM = re.compile(r"Android|iPhone|iPad|iOS|Windows NT|Macintosh|Darwin|Opera Mini")

# A phone may be called anything ("HTC Butterfly", "ViewSonic"), and so may its build: the place where Android names
# them is not looked at, unless a program put itself there.
_PHONE_NAME = re.compile(r"(Android[^;()]*;(?: ?[A-Za-z]{2}[-_][A-Za-z]{2};)?)[^;()@]*(?=[;)])")
_NOT_A_PHONE = re.compile(r"bots?[/;)]|crawl|spider[/;)]|https?:|compatible", re.IGNORECASE)

# The app itself, which names the phone; its link previews do not.
_WHATSAPP_ON_A_PHONE = re.compile(r"^WhatsApp/\S+ \S+ Device/")


class Bots:
    """Loads the list (some 4 MiB, 20 ms); `named_by` then takes microseconds."""

    def __init__(self) -> None:
        from crawleruseragents import CRAWLER_USER_AGENTS_DATA

        names = (_SITE_NAME, *(crawler["pattern"] for crawler in CRAWLER_USER_AGENTS_DATA))
        # Two sets: the automaton of one would have the product of their states, and each new agent makes some.
        self._words, _ = _set_of(f"(?i){words}" for words in _WORDS)
        self._names, known = _set_of(names)
        self._ambiguous = {number for number, name in enumerate(known) if name in _AMBIGUOUS}

    def named_by(self, user_agent: str) -> bool:
        """Whether the agent is a program's."""
        searched = _PHONE_NAME.sub(_without_phone, user_agent)
        if _WHATSAPP_ON_A_PHONE.match(user_agent):
            return False
        if self._words.Match(searched):
            return True
        found = self._names.Match(searched)
        if not found:
            return False
        return not (self._ambiguous.issuperset(found) and _PERSONAL_SYSTEM.search(user_agent))


def _set_of(patterns: Iterable[str]) -> tuple[Any, list[str]]:
    """The patterns, to be matched in one pass, and which they are by number.

    One that this engine cannot read is left out: the list is not ours, and the others still serve.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    found, known = re2.Set.SearchSet(options), []
    for pattern in patterns:
        try:
            found.Add(pattern)
        except re2.error:
            continue
        known.append(pattern)
    found.Compile()
    return found, known


def _without_phone(found: re.Match[str]) -> str:
    return found[0] if _NOT_A_PHONE.search(found[0]) else str(found[1])
