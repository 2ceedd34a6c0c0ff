"""Idempotency-Key: a request that is sent again gets the answer of the first time.

The key, the change and the answer are written by one transaction. So after a crash, or an answer that never
arrived, a retry either finds all three or none.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from laconic.clock import now
from laconic.errors import ChoiceRefused, IdempotencyKeyReused
from laconic.links import store as statements_of
from laconic.storage.database import Database, Row, Statements, Tenant, Transact

_LONGEST_KEY = 255
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: str
    replayed: bool = False


class Answered(Exception):
    """The request was carried out before; `answer` is what it got."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class Once:
    """Runs work at most once for each key of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(
        self,
        workspace_id: int,
        key: str,
        request: bytes,
        work: Callable[[Statements], Awaitable[Answer]],
        *,
        part: int | None = None,
    ) -> Answer:
        """`request` is what must be the same when the key comes again. Of a bulk each `part` is remembered alone."""
        check_key(key)
        fingerprint = _fingerprint(request)
        # No caller's key holds this separator, so no key is taken for a part of another.
        stored = key if part is None else f"{key}\x1f{part}"

        async def claim_then_work(statements: Statements) -> Answer:
            earlier = await statements_of.claim_key(statements, workspace_id, stored, fingerprint, now())
            if earlier is not None:
                return _again(earlier, fingerprint)
            answer = await work(statements)
            await statements_of.keep_answer(statements, workspace_id, stored, answer.status, answer.body)
            return answer

        return await self._database.for_workspace(workspace_id).transaction(claim_then_work)

    def around(
        self, workspace_id: int, key: str, request: bytes, status: int, shown: Callable[[Any], str]
    ) -> Transact:
        """For a verb that opens its transaction itself: claims the key and keeps the answer in that same one.

        `shown` makes the answer of what the verb gives back, as it will be given again: without secrets, for this table
        must not hold one. Raises Answered when the key was used before.
        """
        check_key(key)
        fingerprint = _fingerprint(request)

        async def transact(place: Tenant, work: Callable[[Statements], Awaitable[T]]) -> T:
            async def claim_then_work(statements: Statements) -> T:
                earlier = await statements_of.claim_key(statements, workspace_id, key, fingerprint, now())
                if earlier is not None:
                    raise Answered(_again(earlier, fingerprint))
                result = await work(statements)
                await statements_of.keep_answer(statements, workspace_id, key, status, shown(result))
                return result

            return await place.transaction(claim_then_work)

        return transact

    async def earlier(self, workspace_id: int, key: str, request: bytes) -> Answer | None:
        """The answer of the first time, if there was one.

        For asking before a request is judged: what was right the first time, such as an expiry in the future, may
        be wrong by now, and the answer stays the same.
        """
        check_key(key)
        row = await statements_of.find_answer(self._database.for_workspace(workspace_id), workspace_id, key)
        return _again(row, _fingerprint(request)) if row is not None else None


def check_key(key: str) -> None:
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isprintable():
        raise ChoiceRefused("Idempotency-Key", f"A key has 1 to {_LONGEST_KEY} printable characters.")


def _fingerprint(request: bytes) -> bytes:
    return hashlib.blake2b(request, digest_size=16).digest()


def _again(earlier: Row, fingerprint: bytes) -> Answer:
    if bytes(earlier[0]) != fingerprint:
        raise IdempotencyKeyReused
    return Answer(earlier[1], earlier[2], replayed=True)
