"""Reading the forms of our own pages."""

from urllib.parse import parse_qsl

from laconic.web.api.problems import Kind, Problem

FORM = "application/x-www-form-urlencoded"
FORM_EXPIRED = Kind(403, "form_expired", "The form has expired")
_MOST_FIELDS = 20
_NOT_A_FORM = Kind(400, "invalid_request", "The form cannot be read")


def form_fields(body: bytes) -> dict[str, str]:
    """Text that is not UTF-8 is refused: what is accepted comes back unchanged."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise Problem(_NOT_A_FORM, "The form's text is not what a browser sends.") from None
    return dict(pairs)
