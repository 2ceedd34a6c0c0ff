"""Which URLs are accepted as targets, and what their Location says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laconic.errors import TargetRefused, TargetTooLong
from laconic.links.targets import REASONS, Target, TargetRules, parse

RULES = TargetRules(own_hosts=["sho.rt"])
OPEN_RULES = TargetRules(own_hosts=["sho.rt"], allow_private=True)
ROOMY_RULES = TargetRules(own_hosts=["sho.rt"], max_length=100_000)

HEADER_SAFE = re.compile(r"""(?i:https?)://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%|^`{}\\]+""")
ONLY_POLICY = {"credentials", "own_host", "private_address", "local_name", "control_character"}


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder of public test cases beside the repository."""
    folder = Path(__file__).parents[3] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing: the public test cases are not part of the repository")
    return folder


def cases(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text().splitlines():
        yield json.loads(line)


def reason(text: str, rules: TargetRules = RULES) -> str | None:
    """Why a text is refused, None when it is accepted."""
    outcome = check_or_refuse(text, rules)
    if isinstance(outcome, Target):
        return None
    return outcome.reason if isinstance(outcome, TargetRefused) else "too_long"


def check_or_refuse(text: str, rules: TargetRules = RULES) -> Target | TargetRefused | TargetTooLong:
    """The target or the refusal, which is short and has a known reason; any other exception fails the test."""
    outcome: Target | TargetRefused | TargetTooLong
    try:
        outcome = rules.check(text)
    except (TargetRefused, TargetTooLong) as refusal:
        outcome = refusal
    assert isinstance(outcome, Target) or len(str(outcome)) < 200
    assert not isinstance(outcome, TargetRefused) or outcome.reason in REASONS
    return outcome


def assert_sound(target: Target) -> None:
    """What every accepted target holds."""
    assert HEADER_SAFE.fullmatch(target.location)
    assert parse(target.location) == parse(target.original_url)
    again = TargetRules(own_hosts=(), max_length=100_000, allow_private=True).check(target.location)
    assert again.location == target.location


# The public collections


def test_every_whatwg_case(data: Path) -> None:
    """Accepted as WHATWG accepts, with the same serialisation, or refused by a rule of our own."""
    for case in cases(data / "urls_whatwg.jsonl"):
        why = reason(case["input"], OPEN_RULES)
        if case["expect"] == "reject":
            assert why is not None, case
        elif why is None:
            assert parse(case["input"].strip())[0] == case["href"], case
            assert_sound(OPEN_RULES.check(case["input"]))
        else:
            assert why in ONLY_POLICY, case
            assert why != "credentials" or "@" in case["input"], case


def test_every_disguise_of_a_private_host(data: Path) -> None:
    """All that mean private, local or invalid hosts are refused; no decoy is called invalid."""
    for case in cases(data / "urls_private_disguised.jsonl"):
        why = reason(case["url"])
        if case["class"] == "public":
            assert why in (None, "credentials", "local_name"), case
        elif case["class"] == "ip-private":
            assert why in ("private_address", "credentials"), case
        else:
            assert why is not None, case


def test_every_disguise_without_its_decoy_name(data: Path) -> None:
    """The host alone, as a browser reads it, is refused for what it is and not for the credentials before it."""
    for case in cases(data / "urls_private_disguised.jsonl"):
        if case["class"] == "ip-private":
            assert reason(f"http://{case['whatwg_host']}/") == "private_address", case
            assert reason(f"http://{case['whatwg_host']}/", OPEN_RULES) is None, case


def test_every_real_url(data: Path) -> None:
    """URLs seen in the wild are accepted, and one that needs no change is not changed."""
    for line in (data / "urls_real.txt").read_text().splitlines():
        target = RULES.check(line)
        assert target.original_url == line.strip()
        assert_sound(target)


@pytest.mark.parametrize(
    "frame", ["{}", "http://{}", "http://example.com/{}", "http://example.com/?q={}#{}", "http://a{}.com"]
)
def test_every_naughty_string(data: Path, frame: str) -> None:
    """Whole or embedded: refused or made safe for a header, never another error."""
    texts = [case["s"] for case in cases(data / "strings_naughty.jsonl")]
    texts += [case["payload"] for case in cases(data / "xss_payloads.jsonl")]
    for text in texts:
        target = check_or_refuse(frame.replace("{}", text), ROOMY_RULES)
        if isinstance(target, Target):
            assert_sound(target)


# What is accepted, and its Location


@pytest.mark.parametrize(
    "text",
    [
        "http://a.b",
        "http://a.b/",
        "http://a.b?x",
        "http://a.b#x",
        "HTTP://A.b",
        "hTTps://WWW.Example.COM?a=1#B",
        "https://example.com/a/b;c=d?e=f&e=f&g#h/i?j",
        "https://example.com/%7Euser/%c3%a9",
        "HTTPS://Example.COM/%7Euser/%c3%a9",
        "HTTPS://xn--a.example/@user?mail=a@b.c",
        "https://xn--a.example/xn-0a.example",
        "https://example.com/[x](y)!$*+,:@'",
        "https://example.com/wiki/@user?mail=a@b.c",
        "https://example.com//a//",
        "https://example.com:8443/",
        "https://example.com./",
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "https://[2606:4700:4700::ABCD]/",
        "https://xn--bcher-kva.example/",
        "https://xn--72czcrhaj7cpt0ed1dxb4mb1s1.example/",
        "https://a_b.example/",
        "https://example.com/?",
        "https://example.com/#",
        "https://example.com/1' OR '1'='1".replace(" ", "+"),
        "https://example.com/?q=1;DROP+TABLE+short_link;--",
    ],
)
def test_a_plain_url_goes_out_byte_for_byte(text: str) -> None:
    """Nothing that a browser reads the same is rewritten."""
    assert RULES.check(text) == Target(text, text)
    assert_sound(RULES.check(text))


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/é?ü#ß", "https://example.com/%C3%A9?%C3%BC#%C3%9F"),
        ("https://bücher.example", "https://xn--bcher-kva.example/"),
        ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("https://faß.de", "https://xn--fa-hia.de/"),
        ("https://☃.net/", "https://xn--n3h.net/"),
        ("https://EXAMPLE.com/é", "https://example.com/%C3%A9"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:/", "https://example.com/"),
        ("https://example.com:0080/", "https://example.com:80/"),
        ("https:example.com", "https://example.com/"),
        ("https:/example.com", "https://example.com/"),
        ("https:///example.com", "https://example.com/"),
        ("https:\\\\example.com\\a", "https://example.com/a"),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        ("ht\ttps://exa\nmple.com/a\r\nb", "https://example.com/ab"),
        ("\x01https://example.com/\x02", "https://example.com/"),
        ("https://example.com/\x01\x7f", "https://example.com/%01%7F"),
        (
            "https://example.com/<script>alert('x')</script>",
            "https://example.com/%3Cscript%3Ealert('x')%3C/script%3E",
        ),
        ("https://example.com/?q=\"'<>", "https://example.com/?q=%22%27%3C%3E"),
        ("https://example.com/?q=1' OR '1'='1", "https://example.com/?q=1%27%20OR%20%271%27=%271"),
        ("https://example.com/^{|}`[]", "https://example.com/%5E%7B|%7D%60[]"),
        ("https://example.com/?^{|}`\\", "https://example.com/?^{|}`\\"),
        ("https://example.com/a^?^#^", "https://example.com/a%5E?^#^"),
        ("https://example.com/a\\b?c\\d", "https://example.com/a/b?c\\d"),
        ("https://EXAMPLE.com/%zz", "https://example.com/%zz"),
        ("https://EXAMPLE.com/?a|b", "https://example.com/?a|b"),
        ("https://%65xample.com", "https://example.com/"),
        ("https://0x08.0x8.010.8/", "https://8.8.8.8/"),
        ('https://a"b.example/', "https://a%22b.example/"),
        ("https://XN--A.example:443", "https://xn--a.example/"),
        ("https://%58n--a.example/^", "https://xn--a.example/%5E"),
        ("https://example.com/\u202e\u200b\ufeff", "https://example.com/%E2%80%AE%E2%80%8B%EF%BB%BF"),
        ("https://example.com/😀", "https://example.com/%F0%9F%98%80"),
        ("https://example.com\\@evil.example/", "https://example.com/@evil.example/"),
    ],
)
def test_any_other_url_goes_out_as_whatwg_writes_it(text: str, location: str) -> None:
    """Spaces, foreign letters and odd spellings become URL characters."""
    assert RULES.check(text) == Target(text, location)
    assert_sound(RULES.check(text))


@pytest.mark.parametrize("white_space", [" ", "\n", "\t\r\n ", "\u00a0", "\u3000", "\u2028"])
def test_outer_white_space_is_stripped(white_space: str) -> None:
    """What copying brings along is no part of the URL."""
    assert RULES.check(f"{white_space}http://a.b{white_space}") == Target("http://a.b", "http://a.b")
    assert reason(white_space) == "empty"


def test_the_limit_counts_characters_as_given() -> None:
    """2,048 characters are accepted and one more is not, whatever they become."""
    start = "https://example.com/"
    for letter in "aé😀":
        text = start + letter * (2048 - len(start))
        assert RULES.check(f"  {text}  ").original_url == text
        with pytest.raises(TargetTooLong) as refusal:
            RULES.check(text + letter)
        assert (refusal.value.length, refusal.value.limit) == (2049, 2048)


# What is refused, and why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("example.com", "no_scheme"),
        ("example.com/a?b", "no_scheme"),
        ("example.com:8080/a", "no_scheme"),
        ("localhost:8000", "no_scheme"),
        ("//example.com/a", "no_scheme"),
        ("/a/b", "no_scheme"),
        ("hello world", "no_scheme"),
        ("user@example.com", "no_scheme"),
        ("://example.com", "no_scheme"),
        ("1http://example.com", "no_scheme"),
        ("\ufeffhttps://example.com", "no_scheme"),
        ("ftp://example.com/", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("JaVaScRiPt:alert(1)", "scheme"),
        ("java\nscript:alert(1)", "scheme"),
        ("java\tscript:alert(1)", "scheme"),
        ("java\rscript:alert(1)", "scheme"),
        ("\x01javascript:alert(1)", "scheme"),
        ("\x01 \x01javascript:alert(1)", "scheme"),
        ("!javascript:alert(1)", "no_scheme"),
        ("data:text/html,<script>alert(1)</script>", "scheme"),
        ("vbscript:x", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("mailto:a@b.c", "scheme"),
        ("jar:https://127.0.0.1!/", "scheme"),
        ("view-source:https://example.com", "scheme"),
        ("httpx://example.com", "scheme"),
        ("httpſ://example.com", "no_scheme"),
        ("httpſ://xn--a.example/", "no_scheme"),
        ("http://", "no_host"),
        ("http:///", "no_host"),
        ("https://?a", "no_host"),
        ("https://\u00ad/", "no_host"),
        ("https://exa mple.com", "invalid"),
        ("https://exa<mple.com", "invalid"),
        ("https://example.com:99999/", "invalid"),
        ("https://example.com:8x/", "invalid"),
        ("https://1.2.3.256/", "invalid"),
        ("https://1.2.3.4.5/", "invalid"),
        ("https://[::1", "invalid"),
        ("https://[::g]/", "invalid"),
        ("https://[fe80::1%25eth0]/", "invalid"),
        ("https://example%00.com/", "invalid"),
        ("https://a%40b.com/", "invalid"),
        ("https://a＠b.com/", "invalid"),
        ("https://ü.xn--a.com/", "invalid"),
        ("https://xn--\u212a.com/", "invalid"),
        ("https://xn--a%2fb.com/", "invalid"),
        ("https://xn--a%253ab.com/", "invalid"),
        ("https://xn--a.1/", "invalid"),
        ("https://xn--a:b@xn--c.example/", "invalid"),
        ("https://xn--a.example:99999/", "invalid"),
        ("https://a\0b.com/", "control_character"),
        ("https://example.com/\0", "control_character"),
        ("\0https://example.com/", "control_character"),
        ("https://example.com/\ud800", "lone_surrogate"),
        ("https://\udfff.com/", "lone_surrogate"),
        ("\ud83d", "lone_surrogate"),
        ("https://user@example.com/", "credentials"),
        ("https://user:secret@example.com/", "credentials"),
        ("https://:secret@example.com/", "credentials"),
        ("https:user@example.com/", "credentials"),
        ("https:\\\\user@example.com/", "credentials"),
        ("ht\ntps:/\t/\t/us\ner\t@example.com/", "credentials"),
        ("https://a@b@example.com/", "credentials"),
        ("https://example.com:80@127.0.0.1/", "credentials"),
    ],
)
def test_a_refusal_says_why(text: str, expected: str) -> None:
    """Each kind of refusal has its word."""
    assert reason(text) == expected


def test_a_missing_scheme_is_suggested() -> None:
    """The person reads what to write."""
    with pytest.raises(TargetRefused, match=r"Did you mean https://example\.com/a\?"):
        RULES.check("Example.com/a")
    with pytest.raises(TargetRefused, match=r"begin with https://"):
        RULES.check("a b")
    with pytest.raises(TargetRefused, match=r"as in https://example\.com/"):
        RULES.check("someone@example.org")


def test_a_refusal_repeats_little_of_the_input() -> None:
    """A long text does not come back whole."""
    for text in [
        "a" * 2000,
        "a." * 900,
        "a" * 1000 + ":x",
        "http://" + "a" * 900 + ".local",
    ]:
        with pytest.raises(TargetRefused) as refusal:
            RULES.check(text)
        assert len(str(refusal.value)) < 200


def test_sixty_characters_of_the_input_are_repeated() -> None:
    """A longer text is cut to as many, the last of which says so."""
    with pytest.raises(TargetRefused, match=f"'{'a' * 60}:'"):
        RULES.check("a" * 60 + ":x")
    with pytest.raises(TargetRefused, match=f"'{'a' * 59}…:'"):
        RULES.check("a" * 61 + ":x")


def test_refusals_are_counted_by_reason() -> None:
    """Each once, those that are only too long as well."""
    rules = TargetRules(own_hosts=(), max_length=30)
    for text in ("", "ftp://example.com/", "mailto:a@b.c", "https://example.com/" + "a" * 11):
        assert reason(text, rules) is not None
    assert rules.refused == {"empty": 1, "scheme": 2, "too_long": 1}


@pytest.mark.parametrize(
    "host",
    """
    127.0.0.1 127.1 127.0.1 127.00.00.01 127.0.0.1. 127.0.0.1.. 0177.1.. 0177.0.0.1 0x7f.1 0X7F000001 2130706433
    017700000001 0x7f.0.0.0x1 %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① 𝟏𝟐𝟕.𝟎.𝟎.𝟏
    0 0.0.0.0 0x0 00 10.1 10.0.0.1 0xa.1 100.64.0.1 169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376
    169.254.43518 172.16.1 172.31.255.255 192.168.1 192.168.257 3232235777 192.0.0.1 192.0.2.1 198.18.0.1
    198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 255.255.255.255 4294967295 0xffffffff 037777777777 240.0.0.1
    168.63.129.16 100.100.100.200
    [::] [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::127.0.0.1] [::ffff:127.0.0.1] [::FFFF:7F00:1] [::ffff:0:7f00:1]
    [::ffff:169.254.169.254] [0:0:0:0:0:ffff:10.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::10.0.0.1] [2002:7f00:1::]
    [2002:a9fe:a9fe::1] [2001::1] [2001:0:53aa:64c:0:fbff:80ff:fffe] [fc00::1] [fd00:ec2::254] [fe80::1] [fec0::1]
    [ff02::1] [2001:db8::1] [3fff::1] [100::1] [5f00::1] [2606:4700::5efe:127.0.0.1] [2606:4700::200:5efe:a00:1]
    """.split(),
)
def test_a_private_address_in_any_disguise(host: str) -> None:
    """Refused with and without port and path; accepted where private targets are allowed."""
    for url in (
        f"http://{host}",
        f"https://{host}:8443/latest/meta-data?a=b#c",
        f"http:\\\\{host}\\",
        f"\thttp:{host}",
    ):
        assert reason(url) == "private_address", url
        assert reason(url, OPEN_RULES) is None, url


@pytest.mark.parametrize(
    "host",
    """
    localhost LOCALHOST localhost. localhost.. .localhost a.localhost loc%61lhost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ
    lo\u00adcalhost localho\u017ft printer.local printer.local. printer。local metadata.google.internal
    METADATA.GOOGLE.INTERNAL. intranet wiki.corp nas.lan x.home.arpa x.invalid 169.254.169.254.nip.io
    127.0.0.1.sslip.io. localtest.me a.lvh.me . .. 1u.ms
    """.split(),
)
def test_a_local_name_in_any_disguise(host: str) -> None:
    """Refused with and without port and path; accepted where private targets are allowed."""
    for url in (f"http://{host}", f"https://{host}:8443/a?b#c"):
        assert reason(url) == "local_name", url
        assert reason(url, OPEN_RULES) is None, url


def test_our_own_hosts_are_refused_first() -> None:
    """A link to a link could loop, whatever the port, the spelling and the private targets setting."""
    own = ["Sho.RT", "localhost:8000", "127.0.0.1", "::1", "[fd00::1]:80", "bücher.example", "go.example."]
    for allow_private in (True, False):
        rules = TargetRules(own_hosts=own, allow_private=allow_private)
        for host in (
            "sho.rt SHO.rt sho.rt. sho.rt:1 sho.rt:443 ｓｈｏ。ｒｔ sh%6f.rt localhost localhost:1 127.0.0.1 0x7f.1 127.1:9"
            " [::1] [0::1]:8 [fd00:0::1] bücher.example xn--bcher-kva.example go.example go.example."
        ).split():
            assert reason(f"http://{host}/x", rules) == "own_host", host
        for host in ("notsho.rt", "sho.rt.example", "www.sho.rt"):
            assert reason(f"http://{host}/x", rules) is None, host


def test_an_own_host_that_is_none_stops_nothing() -> None:
    """It is compared as it stands, and the others are refused as before."""
    rules = TargetRules(own_hosts=["no host", "sho.rt"])
    assert reason("http://sho.rt/x", rules) == "own_host"
    assert reason("http://example.com/x", rules) is None


class _Book:
    def __init__(self) -> None:
        self.own: set[str] = set()
        self.blocked: set[str] = set()

    def is_own(self, name: str) -> bool:
        return name in self.own

    def is_blocked(self, name: str) -> bool:
        return name in self.blocked


@pytest.mark.parametrize("url", ["https://example.com/a", "https://example.com:8443/a"])
def test_a_host_that_was_a_target_may_be_refused_later(url: str) -> None:
    """What the book says of a host holds from the next link on, however often it has been accepted."""
    book = _Book()
    rules = TargetRules(own_hosts=(), book=book)
    for _ in range(2):
        assert reason(url, rules) is None
    book.blocked.add("example.com")
    assert reason(url, rules) == "blocked_host"
    book.own.add("example.com")
    assert reason(url, rules) == "own_host"


# Any text at all

url_pieces = st.sampled_from(
    [
        *"http https : / // \\ @ # ? . .. % %2e %41 %00 %zz a b com example xn-- xn--a ß 。 ① 0x7f 127 0 256".split(),
        *"[ :: ] [::1] 127.0.0.1 localhost sho.rt - _ | ^ ` { } < > \" ' 😀 \ufeff \u202e ＠ K \u0130 80".split(),
        *":80 :443 & = + ; $ ! * ( ) ~".split(),
        *(" ", "\t", "\n", "\r", "\0", "\x01", "\x7f", "\u00a0", "\u2028", "\ud800"),
    ]
)
any_text = st.one_of(
    st.text(),
    st.text(st.characters()),  # lone surrogates too
    st.lists(url_pieces, max_size=12).map("".join),
    st.builds(
        "{}{}".format, st.sampled_from(["http://", "https://a.b/", "http://a.b?", "http://a.b#"]), st.text()
    ),
    st.lists(url_pieces, max_size=8).map(lambda pieces: "http://a.b" + "".join(pieces)),
)


@given(any_text)
@example("http://xn--" + "a" * 2000 + "/")
@example("http:" + "\t" * 2000 + "a")
@example("http:" + "@" * 2000 + "a")
@example("a" * 2049)
def test_any_text_is_a_sound_target_or_refused(text: str) -> None:
    """No other exception, and every accepted target goes out safely and reads the same."""
    target = check_or_refuse(text)
    if isinstance(target, Target):
        assert target.original_url == text.strip()
        assert_sound(target)


@given(any_text)
def test_allowing_private_targets_allows_more_and_changes_nothing_else(text: str) -> None:
    """What is accepted by default is accepted alike where private targets are allowed."""
    target = check_or_refuse(text)
    if isinstance(target, Target):
        assert OPEN_RULES.check(text) == target


@pytest.mark.parametrize("url", ["https://@example.com/", "https://:@example.com/"])
def test_an_empty_user_part_is_no_credential(url: str) -> None:
    """Browsers drop it, and so does the Location."""
    assert RULES.check(url).location == "https://example.com/"


@pytest.mark.parametrize("url", ["https://foo:80/", "http://wiki/page"])
def test_a_name_of_one_label_may_be_a_target(url: str) -> None:
    """It leads nowhere public, but it is no private address either, and the browser decides."""
    assert RULES.check(url).location == url


_segments = st.sampled_from(
    ["a", "B-9", "", ".", "..", ".well", "a.b", "%2e", "@:", "ü", "a'b", "c|d", "x y", "~!$&()*+,;="]
)
_hosts = st.sampled_from(
    ["example.com", "Example.com", "example.com.", "8.8.8.8", "0x8.8.8.8", "xn--a.com", "example.com:80"]
)


@given(
    st.sampled_from(["http", "https", "HTTP"]),
    _hosts,
    st.lists(_segments, max_size=4),
    st.one_of(st.just(""), st.lists(_segments).map(lambda parts: "?" + "/".join(parts))),
    st.sampled_from(["", "#top"]),
)
def test_a_known_host_changes_nothing(
    scheme: str, host: str, segments: list[str], query: str, fragment: str
) -> None:
    """The second link to a host is judged without the parser where that can be, and comes out the same."""
    text = f"{scheme}://{host}{''.join('/' + segment for segment in segments)}{query}{fragment}"
    rules = TargetRules(own_hosts=[])
    assert rules.check(text) == rules.check(text)


def test_hosts_that_lead_outside_are_remembered_and_never_too_many() -> None:
    """An import to few hosts judges each once; one to many fills no memory."""
    rules = TargetRules(own_hosts=[])
    for number in range(10_000):
        rules.check(f"https://host{number}.example.com/")
    assert len(rules._public_hosts) == 10_000
    rules.check("https://one.more.example.com/")
    assert rules._public_hosts == {"one.more.example.com"}
