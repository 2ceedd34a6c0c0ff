"""Reading a form that one of our own pages has sent."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from laconic.web.api.bodies import media_type, read_body
from laconic.web.api.problems import FORM_EXPIRED, WRONG_TYPE, Kind, Problem
from laconic.web.pages.form_tokens import FormTokens

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 20
_NOT_A_FORM = Kind(400, "invalid_request", "The form cannot be read")


async def read_fields(request: Request) -> dict[str, str]:
    """Text that is not UTF-8 is refused: what is accepted comes back unchanged."""
    if media_type(request) != _FORM:
        raise Problem(
            WRONG_TYPE, "This is the page's own form. Programs send JSON to /shorten or /api/v1/urls."
        )
    body = await read_body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise Problem(_NOT_A_FORM, "The form's text is not what a browser sends.") from None
    return dict(pairs)


async def require_own_form(request: Request, fields: dict[str, str], tokens: FormTokens) -> None:
    """Against cross-site request forgery: nothing is done for a form that we have not served to this browser."""
    if not await tokens.is_ours(request, fields.get("token", "")):
        raise Problem(FORM_EXPIRED, "The form had expired. Nothing was done: please send it again.")
