"""Which page sent a visitor, and what of it may be stored."""

import re
from typing import NamedTuple

from laconic.clicks.headers import text_of

_MOST_REFERRERS = 50_000
_LONGEST_TEXT = 1024
_LONGEST_HOST = 253

# scheme, user and password, host, port, path, query (RFC 3986, appendix B); an app calls itself android-app://name.
_URL = re.compile(
    r"((?:https?|android-app|ios-app)://)(?:[^/?#\\]*@)?(\[[0-9a-f:.]+\]|[^/?#\\@:]+)(:\d{0,5})?([/?][^#]*)?",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"[a-z0-9\u0080-\U0010ffff](?:[a-z0-9._\u0080-\U0010ffff-]*[a-z0-9\u0080-\U0010ffff])?|\[[0-9a-f:.]+\]"
)


class Referrer(NamedTuple):
    """What is kept of a Referer header."""

    # Without user, password and fragment; None when there was none or it is no URL.
    text: str | None
    # In lower case, without port and without "www."; empty: direct, none or unreadable.
    host: str


DIRECT = Referrer(None, "")


class Referrers(dict[bytes, Referrer]):
    """`referrers[header]`. A new one costs a few microseconds, a known one a dictionary read."""

    def __missing__(self, header: bytes) -> Referrer:
        if len(self) >= _MOST_REFERRERS:
            self.clear()
        referrer = self[header] = _read(header) if header else DIRECT
        return referrer


def _read(header: bytes) -> Referrer:
    found = _URL.match(text_of(header).strip())
    if found is None:
        return DIRECT
    host = found[2].lower().rstrip(".")
    if not _HOST.fullmatch(host) or len(host) > _LONGEST_HOST:
        return DIRECT
    text = f"{found[1].lower()}{host}{found[3] or ''}{found[4] or ''}"
    return Referrer(text[:_LONGEST_TEXT], host.removeprefix("www.") or host)
