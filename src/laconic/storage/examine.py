"""What can be said of a database's health, in words for its operator."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`subject` is a stable word such as `wal_size`; `remedy` says what to do, and is empty where all is well."""

    subject: str
    level: Level
    text: str
    remedy: str = ""
