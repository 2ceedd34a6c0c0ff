"""The OpenAPI document says the truth: schemathesis calls every operation in every way it can think of.

No input makes a server error, every answer has the shape and a status that the document names (P10).
"""

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from laconic.settings import Rate
from tests.web.api.opened import Api, opener

_CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
_EXAMPLES = 5


@schemathesis.serializer("application/x-ndjson")
def _one_line(_: Any, value: Any) -> bytes:
    """A bulk of one line."""
    return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"


class _Bridge:
    """An ASGI application that lives on a loop of its own, for a client that brings another one for each call."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._folder = folder
        self._stop: asyncio.Event | None = None
        self.api = self.run(self._open())

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _open(self) -> Api:
        ready: asyncio.Future[Api] = self._loop.create_future()
        self._stop = asyncio.Event()

        async def live() -> None:
            rate = Rate(per_second=100_000, burst=100_000)
            url = f"sqlite:///{self._folder}/laconic.db"
            async with opener(url, self._folder)(host="0.0.0.0", rate_api=rate) as api:
                ready.set_result(api)
                assert self._stop is not None
                await self._stop.wait()

        self._life = asyncio.create_task(live())
        return await ready

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        here = asyncio.get_running_loop()

        async def over_there() -> None:
            async def ask() -> Any:
                return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(receive(), here))

            async def tell(message: Any) -> None:
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(send(message), here))

            await self.api.app(scope, ask, tell)

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(over_there(), self._loop))

    def close(self) -> None:
        async def end() -> None:
            assert self._stop is not None
            self._stop.set()
            await self._life

        self.run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


@pytest.fixture(scope="module")
def bridge(_sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Bridge]:
    folder = tmp_path_factory.mktemp("schema") / "data"
    shutil.copytree(_sqlite_template, folder)
    bridge = _Bridge(folder)
    yield bridge
    bridge.close()


@pytest.fixture(scope="module")
def key(bridge: _Bridge) -> str:
    """Of everybody: all scopes."""
    return str(bridge.run(bridge.api.key("admin", "operator")))


@pytest.fixture(scope="module")
def document(bridge: _Bridge) -> dict[str, Any]:
    async def ask() -> Any:
        async with bridge.api.client() as client:
            return (await client.get("/openapi.json")).json()

    found: dict[str, Any] = bridge.run(ask())
    return found


# A stream that never ends, which this client would wait for; tests/flows/test_raw_clicks.py reads it.
_ENDLESS = {"GET /api/v1/clicks/live"}


def _operations(document: dict[str, Any]) -> list[str]:
    return [f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods]


@pytest.mark.parametrize("mode", list(GenerationMode), ids=["as described", "otherwise"])
@pytest.mark.parametrize("with_key", [True, False], ids=["with a key", "without a key"])
def test_p10_every_operation_answers_as_the_document_says(
    bridge: _Bridge, document: dict[str, Any], key: str, with_key: bool, mode: GenerationMode
) -> None:
    """0 server errors, 0 answers of another shape, 0 statuses that the document does not name."""
    schema = schemathesis.openapi.from_dict(document)
    schema.app = bridge
    headers = {"authorization": f"Bearer {key}"} if with_key else {}
    failures: list[str] = []
    calls = 0

    for found in schema.get_all_operations():
        operation = found.ok()  # type: ignore[union-attr]  # a broken schema fails here
        if operation.label in _ENDLESS:
            continue

        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        @hypothesis.settings(
            max_examples=_EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[hypothesis.Phase.generate],
        )
        def check(case: Any) -> None:
            nonlocal calls
            calls += 1
            case.call_and_validate(headers=headers, checks=_CHECKS)

        try:
            check()
        except hypothesis.errors.Unsatisfiable:
            pass  # nothing can be wrong with a request that has no parts
        except (Exception, BaseExceptionGroup) as error:
            failures.append(f"{operation.label}: {error}")
    print(f"\n{calls} calls of {len(_operations(document))} operations, {len(failures)} failures")
    assert not failures, "\n\n".join(failures)
