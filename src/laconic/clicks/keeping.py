"""What may be kept of clicks, where an installation and a workspace each have a say: the less of the two."""

from typing import Final, Literal

from laconic.clock import DAY

PrivacyLevel = Literal["full", "truncate", "none"]

LONGEST_RETENTION_DAYS: Final = 3_650

# From the one that keeps the most to the one that keeps the least.
_LEVELS: Final = ("full", "truncate", "none")


def stricter(installation: str, chosen: str | None) -> str:
    """Of two levels of privacy the one that keeps less."""
    return installation if chosen is None else max(installation, chosen, key=_LEVELS.index)


def shorter(installation: int, days: int | None) -> int:
    """How long raw clicks are kept, in microseconds."""
    return installation if days is None else min(installation, days * DAY)
