"""What is wrong with a form, in words, for the page that shows the form again."""

from dataclasses import dataclass
from typing import Any, Final

from laconic import errors
from laconic.errors import LaconicError
from laconic.web.api.problems import Problem, kind_of
from laconic.web.pages.forms import Form
from laconic.web.pages.home import words_for

# What a person can put right in the form. Everything else has a page of its own: 403, 404, 503.
CORRECTABLE: Final = (
    errors.ChoiceRefused,
    errors.TargetRefused,
    errors.TargetTooLong,
    errors.NameTaken,
    errors.LastAdmin,
    errors.SignInFailed,
    errors.DomainTaken,
    errors.DomainNotProved,
    errors.DomainInUse,
    errors.LinkGone,
    errors.TooManyRequests,
    errors.CleanupRunning,
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """`place` names the form on the page that it belongs to, `given` is what was typed there."""

    place: str
    text: str
    status: int
    field: str | None
    given: dict[str, list[str]]

    @classmethod
    def from_error(cls, place: str, error: LaconicError, form: Form) -> "Mistake":
        named: Any = getattr(error, "field", None)
        if isinstance(error, Problem) and error.errors:
            named = error.errors[0]["field"]
        # A password is typed anew: no page repeats it.
        names = {name for name, _ in form.pairs() if "password" not in name and name != "token"}
        given = {name: form.all(name) for name in sorted(names)}
        return cls(place, words_for(error) or "", kind_of(error).status, named, given)
