"""The address that short URLs begin with, where no setting says it.

A server leaves its base URL in the data folder. So `laconic shorten` prints a URL that works, whatever port the
server was given.
"""

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

_FILE = "base_url"


def default_base_url(host: str, port: int) -> str:
    """localhost for this machine; otherwise the address that the server listens on."""
    if host in ("127.0.0.1", "::1") or is_wildcard(host):
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_wildcard(host: str) -> bool:
    """Does it mean every address of the machine? Nobody can be sent there."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""


def last_base_url(folder: Path) -> str:
    """What the last server on this data folder left; empty when there was none."""
    try:
        text = (folder / _FILE).read_text().strip()
        parts = urlsplit(text)
    except (OSError, ValueError):
        return ""
    return text if parts.scheme in ("http", "https") and parts.hostname else ""


def leave_base_url(folder: Path, base_url: str) -> None:
    hidden = folder / f"{_FILE}.new"
    hidden.write_text(base_url + "\n")
    hidden.replace(folder / _FILE)
