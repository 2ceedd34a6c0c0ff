"""Requests to handlers that are called without the framework: see `App`."""

from collections.abc import Iterator
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request


class DirectRequest(Request):
    """Names of headers are asked for in lower case."""

    def __init__(self, scope: Any, receive: Any) -> None:
        super().__init__(scope, receive)
        self._headers = _Headers(scope)


class _Headers(Headers):
    """Looked up in a dictionary: a create asks for eight, and the framework would go through all of them each time."""

    def __init__(self, scope: Any) -> None:
        super().__init__(raw=scope["headers"])
        # The first of several counts, as everywhere.
        self._first: dict[str, str] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])
        }

    def __getitem__(self, key: str) -> str:
        return self._first[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._first

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def get(self, key: str, default: Any = None) -> Any:
        return self._first.get(key, default)
