"""What the last backup and the last integrity check came to, in a file of the data folder.

Not in the database: it is there to tell of one that is damaged.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

_FILE = "upkeep.json"


@dataclass(frozen=True, slots=True)
class Notes:
    """Moments are 0 where there was none yet; an error is empty where there was none."""

    backed_up_at: int = 0
    backup: str = ""
    backup_error: str = ""
    checked_at: int = 0
    problems: tuple[str, ...] = ()


def read_notes(folder: Path) -> Notes:
    try:
        document = json.loads((folder / _FILE).read_text())
        return Notes(**{**document, "problems": tuple(document.get("problems", ()))})
    except (OSError, ValueError, TypeError):
        return Notes()


def change_notes(folder: Path, **changes: Any) -> None:
    """One process of a machine does. A disk that is full loses a note, nothing else."""
    hidden = folder / f".{_FILE}"
    try:
        with os.fdopen(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(asdict(replace(read_notes(folder), **changes)), file)
        hidden.rename(folder / _FILE)
    except OSError:
        pass
