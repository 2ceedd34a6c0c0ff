"""Where a link's pages are, and how a link is shown in them."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from laconic.clock import now
from laconic.links.model import Link
from laconic.redirect.model import is_expired
from laconic.wiring import Services

LINKS = "/dashboard/links"
NEW_LINK = "/dashboard/new-link"


def host_of(services: Services, domain_id: int) -> str:
    return urlsplit(services.directory.prefix(domain_id)).hostname or ""


def link_path(services: Services, link: Link, tail: str = "") -> str:
    """The domain is named where the code alone would mean the workspace's default one."""
    path = f"{LINKS}/{quote(link.short_code)}{tail}"
    if link.domain_id == services.directory.default_of(link.workspace_id):
        return path
    return f"{path}?domain={quote(host_of(services, link.domain_id))}"


@dataclass(frozen=True, slots=True)
class LinkState:
    """One word, the badge's colour, and what visitors get."""

    word: str
    colour: str
    meaning: str


_LIVE = LinkState("Live", "good", "Visitors are sent on.")
_EXPIRED = LinkState("Expired", "warn", "Visitors read that it has expired.")
_OFF = LinkState("Off", "", "Visitors read that it is switched off.")
_TAKEN_DOWN = LinkState("Taken down", "bad", "The operator of this site has taken it down.")


def state_of(link: Link) -> LinkState:
    if link.gone_reason == "taken_down":
        return _TAKEN_DOWN
    if is_expired(link.expires_at, now()):
        return _EXPIRED
    return _LIVE if link.is_active else _OFF


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link for a template: with its addresses and its state."""

    link: Link
    short_url: str
    path: str
    edit_path: str
    qr_path: str
    copy_path: str
    state: LinkState

    @classmethod
    def of(cls, services: Services, link: Link) -> "ShownLink":
        return cls(
            link,
            services.directory.short_url(link.domain_id, link.short_code),
            link_path(services, link),
            link_path(services, link, "/edit"),
            link_path(services, link, "/qr"),
            link_path(services, link, "/duplicate"),
            state_of(link),
        )

    @property
    def shown_url(self) -> str:
        return self.short_url.partition("://")[2]

    @property
    def place(self) -> str:
        """What a box that selects it sends."""
        return f"{self.link.domain_id}.{self.link.short_code}"


def places_of(values: list[str]) -> list[tuple[int, str]]:
    """What boxes have sent; what they cannot have sent is left out."""
    places = []
    for value in values:
        domain_id, _, code = value.partition(".")
        if domain_id.isdecimal() and domain_id.isascii() and len(domain_id) < 19 and code.isascii() and code:
            places.append((int(domain_id), code))
    return places
