"""When two targets count as the same, for links made for reuse; no visitor is sent to what is made here."""

import re
from hashlib import blake2b
from typing import Final
from urllib.parse import unquote

from laconic.links.targets import parse
from laconic.workspaces.model import DEFAULT_DOMAIN_ID

# Parameters that say where a visitor came from, not what is shown. Left out are short words that some sites
# use for content (ref, source, si, cid, icid).
_TRACKING_PREFIXES: Final = ("utm_", "mtm_", "itm_")  # Google Analytics, Matomo, internal campaigns
_TRACKING_NAMES: Final = frozenset(
    {
        *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid"),  # Google Ads
        *("_ga", "_gl", "srsltid"),  # Google Analytics across domains, Merchant Center
        *("fbclid", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "igshid", "igsh"),  # Meta
        "msclkid",  # Microsoft Advertising
        *("twclid", "ttclid", "li_fat_id"),  # X, TikTok, LinkedIn
        *("rdt_cid", "sccid", "epik"),  # Reddit, Snap, Pinterest
        *("yclid", "ysclid", "_openstat"),  # Yandex
        *("mc_cid", "mc_eid"),  # Mailchimp
        *("_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking"),  # HubSpot
        *("mkt_tok", "vero_id", "vero_conv", "oly_anon_id", "oly_enc_id", "_kx", "ml_subscriber"),  # mailings
        *("pk_campaign", "pk_kwd", "pk_source", "pk_medium", "pk_content"),  # Matomo's older names
        *("irclickid", "rb_clickid", "wickedid"),  # Impact, Red Brain, Wicked Reports
        *("s_kwcid", "ef_id"),  # Adobe
    }
)

_ESCAPE: Final = re.compile("%[0-9a-fA-F]{2}")


def normalize(location: str) -> str:
    """A location in the form in which equal targets are equal; normalising that again changes nothing."""
    href, _ = parse(location)
    rest, hash_sign, fragment = href.partition("#")
    base, _, query = rest.partition("?")
    base = _upper_case_escapes(base.rstrip("/"))
    pieces = _upper_case_escapes(query).split("&")
    kept = sorted(_split(piece) for piece in pieces if piece and not _is_tracking(piece))
    sorted_query = "&".join(name + value for name, value in kept)
    return f"{base}{'?' if sorted_query else ''}{sorted_query}{hash_sign}{fragment}"


def digest(normalized: str, domain_id: int = DEFAULT_DOMAIN_ID) -> bytes:
    """16 bytes that stand for a normalised location, on one domain, in an index."""
    # Links of the shared domain keep the digests they had before there were others.
    salt = b"" if domain_id == DEFAULT_DOMAIN_ID else domain_id.to_bytes(8, "big")
    return blake2b(normalized.encode(), digest_size=16, salt=salt).digest()


def _split(piece: str) -> tuple[str, str]:
    """The name and, with its equals sign, the value: `a` and `a=` stay apart."""
    name, equals, value = piece.partition("=")
    return name, equals + value


def _is_tracking(piece: str) -> bool:
    name = unquote(piece.partition("=")[0]).lower()
    return name in _TRACKING_NAMES or name.startswith(_TRACKING_PREFIXES)


def _upper_case_escapes(text: str) -> str:
    # RFC 3986 section 6.2.2.1: the hexadecimal digits of an escape mean the same in either case.
    return _ESCAPE.sub(lambda escape: escape[0].upper(), text) if "%" in text else text
