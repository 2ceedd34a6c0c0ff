"""Which codes may be asked for, and which can be codes at all."""

import re
from typing import Literal

from laconic.errors import CodeRefused, SettingInvalid

# What may stand in a short URL's path, whatever the settings for new codes: anything else is refused
# before any look-up.
POSSIBLE_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")

# First path segments that the program answers itself. The router is built from this constant, so a code can
# never stand in the way of a page, nor a page of a code.
OWN_PATHS = frozenset(
    {"", "api", "dashboard", "docs", "favicon.ico", "health", "live", "metrics", "openapi.json", "ready"}
    | {"robots.txt", "shorten", "static", "stats", ".well-known"}
)

# Words that a person would take for a page of this site or of its keeper.
_KEPT_WORDS = frozenset(
    """
    about abuse account accounts admin administrator ads affiliate analytics apikey apikeys apis app apps assets
    atom auth authorize backup billing blog bookmark bot bots bulk cache callback captcha cdn changelog checkout
    client code codes config console contact cookie cookies create dash data delete demo dev developer developers
    dmca dns doc domain domains donate download downloads edit email error errors explore export faq favicon feed
    feedback file files forgot forum graphql group groups guest guide healthz help home host hosting hostmaster html
    image images imprint import index info install invite invites invoice jobs join json keys kgs legal license link
    links list login logout mail mailto manage manifest master media member members message messages metric monitor
    myaccount news newsletter null oauth oauth2 offer oidc openapi operator order orders owner page pages partner
    password pay payment payments ping plans policy portal post postmaster preview pricing privacy private profile
    public qr qrcode readyz redirect redirects register report reports reset robots root rss sale sales saml sample
    scim script scripts search secure security server service services session sessions setting settings setup shop
    short shortener signin signout signup site sitemap smtp source ssl sso staff staging stat status store style
    styles subscribe support swagger system team teams terms test tests theme token tokens tools tos tracking
    trust undefined unsubscribe update upload uploads url urls user username users verify version video web webhook
    webhooks webmail webmaster website welcome widget wiki workspace workspaces www xml
    """.split()
)
RESERVED_WORDS = frozenset(word for word in OWN_PATHS if word) | _KEPT_WORDS

_LONGEST_STORED = 20


def is_reserved(code: str) -> bool:
    """In any letter case: `/Login` must not lead somewhere else than people expect of `/login`."""
    return code.lower() in RESERVED_WORDS


class CustomCodeRules:
    """What an owner may ask for by name."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise SettingInvalid(
                f"LACONIC_CUSTOM_CODE_PATTERN is not a regular expression: {error}"
            ) from error
        self._text = pattern

    def refusal(self, code: str) -> Literal["shape", "reserved"] | None:
        """Why this may not be asked for; says nothing about whether it is taken."""
        storable = len(code) <= _LONGEST_STORED and POSSIBLE_CODE.fullmatch(code)
        if not storable or not self._pattern.fullmatch(code):
            return "shape"
        return "reserved" if is_reserved(code) else None

    def check(self, code: str) -> None:
        refusal = self.refusal(code)
        if refusal == "shape":
            raise CodeRefused(refusal, f"A custom code must match {self._text}.")
        if refusal == "reserved":
            raise CodeRefused(refusal, f"The word {code!r} is reserved.")
