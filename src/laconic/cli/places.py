"""Where things lie, in words that hold no secret."""

import os
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

from laconic.storage.engines import data_folder


def place_of_database(url: str) -> str:
    """A path, or host and name: never a user or a password."""
    folder = data_folder(url)
    if folder is not None:
        return str(folder / "laconic.db")
    parts = urlsplit(url)
    return (parts.netloc.rpartition("@")[2] or "the local socket") + parts.path


def engine_of(url: str) -> str:
    return "PostgreSQL" if data_folder(url) is None else "SQLite"


def own_command() -> str:
    """How this program is called from here: `laconic` where PATH finds it, otherwise its path."""
    called = Path(sys.argv[0])
    if called.name != "laconic":
        return "laconic"
    found = shutil.which("laconic")
    if found and os.path.realpath(found) == os.path.realpath(called):
        return "laconic"
    relative = os.path.relpath(called)
    return relative if len(relative) < len(str(called.absolute())) else str(called.absolute())
