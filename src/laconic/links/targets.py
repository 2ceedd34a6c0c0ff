"""Which URLs may be a link's target, and what the Location header says for them."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Final, Literal, NoReturn, Protocol, get_args
from urllib.parse import unquote_to_bytes

from pydantic_core import Url, ValidationError

from laconic.errors import TargetRefused, TargetTooLong
from laconic.outside.addresses import is_local_name, is_public, literal

Reason = Literal[
    "empty",
    "control_character",
    "lone_surrogate",
    "no_scheme",
    "scheme",
    "no_host",
    "invalid",
    "credentials",
    "own_host",
    "blocked_host",
    "private_address",
    "local_name",
]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)


@dataclass(slots=True)
class Target:
    """A URL that may be a link's target. Not frozen, for the reason that a Link is not."""

    original_url: str
    """As given, outer white space stripped."""
    location: str
    """What the Location header carries: printable ASCII without space, quote and angle brackets."""


_MOST_PUBLIC_HOSTS: Final = 10_000
# What the URL Standard leaves as it is: a lower-case name without port, then a path and a query of characters that are
# never encoded, without escapes, and without segments that begin with a dot, which may be taken out.
_PLAIN: Final = re.compile(
    r"https?://([a-z0-9.-]+)(?:/(?:[\w!$&()*+,;=:@~-][\w!$&()*+,;=:@~.-]*)?)+(?:\?[\w!$&()*+,;=:@~./?-]*)?",
    re.ASCII,
)


class HostBook(Protocol):
    """What is known of hosts while the server runs. Names are in lower case and without outer dots."""

    def is_own(self, name: str) -> bool: ...

    def is_blocked(self, name: str) -> bool: ...


class TargetRules:
    """What this installation accepts as a target; built once from the settings."""

    def __init__(
        self,
        *,
        own_hosts: Collection[str],
        book: HostBook | None = None,
        max_length: int = 2048,
        allow_private: bool = False,
    ) -> None:
        self._own_hosts = frozenset(canonical_host(host) for host in own_hosts)
        self._book = book
        self._max_length = max_length
        self._allow_private = allow_private
        # Names that lead outside, as far as a name tells: most links of an import go to few hosts.
        self._public_hosts: set[str] = set()
        self.refused: Counter[str] = Counter()
        """How many, by reason."""

    def check(self, text: str) -> Target:
        """The target that `text` stands for; raises TargetRefused or TargetTooLong."""
        try:
            return self._judge(text)
        except TargetRefused as refusal:
            self.refused[refusal.reason] += 1
            raise
        except TargetTooLong:
            self.refused["too_long"] += 1
            raise

    def _judge(self, text: str) -> Target:
        text = text.strip()
        if not text:
            _refuse("empty", "The URL is empty.")
        if len(text) > self._max_length:
            raise TargetTooLong(len(text), self._max_length)
        plain = _PLAIN.fullmatch(text)
        if plain is not None and plain[1] in self._public_hosts:
            # Such a text is its own serialisation, and its host was judged before: most lines of an import.
            self._check_host(plain[1])
            return Target(text, text)
        # The parser would drop it at the ends; databases cannot store it (PostgreSQL's text).
        if "\0" in text:
            _refuse("control_character", "The URL holds the character U+0000.")
        try:
            href, host = parse(text)
        except ValueError:
            _refuse_unparsed(text)
        if not href.startswith(("http://", "https://")):
            _refuse_scheme(text)
        if "@" in text and "@" in href.split("/", 3)[2]:
            _refuse("credentials", "The URL holds a user name or password: take out what stands before '@'.")
        self._check_host(host)
        return Target(text, _location(text, href))

    def _check_host(self, host: str) -> None:
        # Outer dots do not change where a name leads: `localhost.` is the same name in full (RFC 1034, 3.1).
        name = host.strip(".")
        if name in self._own_hosts or (self._book is not None and self._book.is_own(name)):
            _refuse("own_host", f"{_short(host)} is a host of this service: the link would lead back to it.")
        if self._book is not None and self._book.is_blocked(name):
            _refuse("blocked_host", f"The operator of this service has blocked {_short(host)}.")
        if self._allow_private or host in self._public_hosts:
            return
        if not name:
            _refuse("local_name", "The host is made of dots only.")
        if host.endswith(".."):
            # To WHATWG `127.0.0.1..` is a name, not an address; a resolver may see it otherwise.
            name = canonical_host(name)
        address = literal(name)
        if address is None:
            if is_local_name(name):
                _refuse("local_name", f"{_short(host)} is a name inside private networks only.")
        elif not is_public(address):
            _refuse("private_address", f"{_short(host)} is a private or reserved address.")
        if len(self._public_hosts) >= _MOST_PUBLIC_HOSTS:
            self._public_hosts.clear()
        self._public_hosts.add(host)


def parse(text: str) -> tuple[str, str]:
    """The serialisation and the host of a URL by the WHATWG rules; ValueError when it is none.

    Two things in which pydantic-core 2.50 is behind the URL Standard are put right here: a caret in the path,
    and ASCII names with labels that are no Punycode.
    """
    try:
        url = Url(text)
    except ValidationError:
        return _parse_ascii_name(text)
    href = str(url)
    if "^" in href:
        href = _encode_carets(href)
    return href, url.host or ""


def _encode_carets(href: str) -> str:
    # In the path percent-encode set since March 2025 (whatwg/url pull request 846); not in the query's.
    path_end = min(index for index in (href.find("?"), href.find("#"), len(href)) if index >= 0)
    return href[:path_end].replace("^", "%5E") + href[path_end:]


# WHATWG URL, section 4.4: after a special scheme any number of slashes of both kinds, then the authority.
_PARTS: Final = re.compile(r"(https?:)[/\\]*([^/\\?#]*)(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
# Tabs and line ends are removed wherever they stand, C0 controls and spaces at the ends (4.4, first steps).
_REMOVED: Final = {9: None, 10: None, 13: None}
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))
# ASCII without the forbidden domain code points (3.5): nothing in it can end the host or be decoded again.
_ASCII_NAME: Final = re.compile(r"""[!"$&'()*+,\-.0-9;=A-Z_a-z`{}~]+""")
_PUNYCODE_PREFIX: Final = re.compile(r"(^|\.)xn--")


def _cleaned(text: str) -> str:
    return text.strip(_C0_AND_SPACE).translate(_REMOVED)


def _parse_ascii_name(text: str) -> tuple[str, str]:
    """Parse a URL that was refused because of `xn--` labels which cannot be decoded.

    Since June 2026 (whatwg/url pull request 914) such labels stand for themselves in a name that is all
    ASCII, for there are web sites that have them. The parser gets to see another prefix of the same length.
    """
    parts = _PARTS.fullmatch(_cleaned(text))
    if parts is None or "@" in parts[2]:
        raise ValueError("no http or https URL, or one with credentials")
    scheme, authority, rest = parts.groups()
    host, colon, port = authority.partition(":")
    decoded = unquote_to_bytes(host).decode("utf-8", "replace")
    name = decoded.lower()
    veiled = _PUNYCODE_PREFIX.sub(r"\1xn-0", name)
    if veiled == name or not _ASCII_NAME.fullmatch(decoded):
        raise ValueError("no host name")
    href, _ = parse(f"{scheme}//{veiled}{colon}{port}{rest}")
    return href.replace(f"/{veiled}", f"/{name}", 1), name


def canonical_host(host: str) -> str:
    """A host as the parser writes it, without outer dots; the host itself where it cannot be parsed."""
    bare = host.strip().strip(".").lower()
    is_bare_ipv6 = bare.count(":") > 1 and "[" not in bare
    try:
        return parse(f"http://[{bare}]/" if is_bare_ipv6 else f"http://{bare}/")[1].strip(".")
    except ValueError:
        return bare


# RFC 3986 section 2: unreserved and reserved characters, and `%` where two hexadecimal digits follow.
_URL_CHARACTERS: Final = (ascii_letters + digits + "-._~:/?#[]@!$&'()*+,;=%").encode()
_LOOSE_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")
# What a header may carry (RFC 9110 section 5.5) and even a careless reader takes for one word: printable
# ASCII without space, quote and angle brackets. Bars, braces and (after `?`) backslashes stay, as in WHATWG.
_SAFE: Final = bytes(code for code in range(0x21, 0x7F) if code not in b'"<>')
_UNSAFE: Final = re.compile(r"[^!#-;=?-~]")


def _location(text: str, href: str) -> str:
    """The text, if only an empty path or letter case sets it apart from its serialisation; else that."""
    location = text if text != href and _is_faithful(text, href) else href
    if location.encode().translate(None, _SAFE):
        # Only a quote in a host gets here; percent-encoded it is the same host (WHATWG URL, host parser, 4).
        location = _UNSAFE.sub(_percent_encode, location)
    return location


def _is_faithful(text: str, href: str) -> bool:
    if text.encode().translate(None, _URL_CHARACTERS) or ("%" in text and _LOOSE_PERCENT.search(text)):
        return False
    end = href.index("/", 8)  # where the authority ends; scheme and host in `text` are as long
    path = text[end:]
    return text[:end].lower() + (path if path.startswith("/") else "/" + path) == href


def _percent_encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.\-]*):", re.ASCII | re.IGNORECASE)
# What the parser says about a host, and what a person should read.
_EXPLANATIONS: Final = {
    "invalid port number": "The URL's port is not a number from 0 to 65535.",
    "invalid IPv4 address": "The URL's host looks like an IPv4 address but is none.",
    "invalid IPv6 address": "The URL's host looks like an IPv6 address but is none.",
    "invalid international domain name": "The URL's host holds characters that no host name may have.",
    "invalid domain character": "The URL's host holds characters that no host name may have.",
}


def _refuse_unparsed(text: str) -> NoReturn:
    """Say what is wrong with a text that is no URL."""
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse("lone_surrogate", "The URL holds half of a surrogate pair, which is no character.")
    scheme = _SCHEME.match(_cleaned(text))
    if scheme is None or scheme[1].lower() not in ("http", "https"):
        _refuse_scheme(text)
    try:
        Url(text)
    except ValidationError as error:
        problem = error.errors()[0].get("ctx", {}).get("error", "")
        if problem == "empty host":
            _refuse("no_host", "The URL names no host, as in https://example.com/.")
        _refuse("invalid", _EXPLANATIONS.get(problem, "The text is not a valid URL."))
    _refuse("invalid", "The text is not a valid URL.")


def _refuse_scheme(text: str) -> NoReturn:
    """Say that http or https is missing, or that another scheme stands there."""
    scheme = _SCHEME.match(_cleaned(text))
    # `example.com:8080/x` and `localhost:8000` read as schemes to the parser, not to people.
    if scheme is not None and "." not in scheme[1] and scheme[1].lower() != "localhost":
        _refuse("scheme", f"Links lead to http and https URLs only, not to '{_short(scheme[1])}:'.")
    try:
        suggestion, host = parse("https://" + text.lstrip("/\\"))
    except ValueError:
        suggestion, host = "", ""
    if "." not in host or "@" in text:
        _refuse("no_scheme", "The URL has to begin with https:// or http://, as in https://example.com/.")
    _refuse("no_scheme", f"The URL has to begin with https:// or http://. Did you mean {_short(suggestion)}?")


def _refuse(reason: Reason, detail: str) -> NoReturn:
    raise TargetRefused(reason, detail)


def _short(text: str) -> str:
    """At most 60 characters of a text, for a message."""
    return text if len(text) <= 60 else text[:59] + "…"
