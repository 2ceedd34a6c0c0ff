"""Secrets of links and browsers: random, given away once, kept as a hash."""

import hashlib
import secrets

_BYTES = 32


def new_token() -> str:
    """256 bits, in characters that a URL and a cookie take as they are."""
    return secrets.token_urlsafe(_BYTES)


def token_hash(token: str) -> bytes:
    """A plain hash will do: nobody can try out 256 bits."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
