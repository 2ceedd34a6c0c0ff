"""Files that hold clicks, or what was read of people: for their owner's eyes alone."""

import os


def private(path: str, flags: int) -> int:
    """An opener for `open`."""
    return os.open(path, flags, 0o600)
