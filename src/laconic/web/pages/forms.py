"""Reading a form that one of our own pages has sent."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from starlette.requests import Request

from laconic.web.api.bodies import media_type, read_body
from laconic.web.api.problems import FORM_EXPIRED, WRONG_TYPE, Kind, Problem
from laconic.web.pages.form_tokens import FormTokens

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 20
_NOT_A_FORM = Kind(400, "invalid_request", "The form cannot be read")


class Form:
    """Fields by name; one that several boxes share has several values."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str:
        """The last value, as browsers send it; empty when there is none."""
        return next((value for key, value in reversed(self._pairs) if key == name), "")

    def all(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key == name]

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self._pairs)

    def pairs(self) -> Sequence[tuple[str, str]]:
        return self._pairs


async def read_form(request: Request, most_fields: int = 1_200) -> Form:
    """Text that is not UTF-8 is refused: what is accepted comes back unchanged."""
    if media_type(request) != _FORM:
        raise Problem(
            WRONG_TYPE, "This is the page's own form. Programs send JSON to /shorten or /api/v1/urls."
        )
    body = await read_body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=most_fields
        )
    except ValueError:
        raise Problem(_NOT_A_FORM, "The form's text is not what a browser sends.") from None
    return Form(pairs)


async def read_fields(request: Request) -> dict[str, str]:
    """Of a form whose fields have one value each."""
    return dict((await read_form(request, _MOST_FIELDS)).pairs())


async def require_own_form(request: Request, fields: dict[str, str], tokens: FormTokens) -> None:
    """Against cross-site request forgery: nothing is done for a form that we have not served to this browser."""
    if not await tokens.is_ours(request, fields.get("token", "")):
        raise Problem(FORM_EXPIRED, "The form had expired. Nothing was done: please send it again.")
