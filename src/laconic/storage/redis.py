"""The shared store on Redis or Valkey: one server, Sentinel or Cluster. The only file that knows the driver."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from redis import exceptions as driver
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff

from laconic.errors import SharedAway
from laconic.storage.breaker import Breaker
from laconic.storage.redis_address import RedisAddress
from laconic.storage.shared import Argument, Call, Script
from laconic.storage.together import Together

T = TypeVar("T")

_SECONDS = 0.05
# For the probe alone, which nobody waits for: it may meet a slow hand-shake or look for a new primary.
_PROBE_SECONDS = 1.0
_SENTINEL_SECONDS = 0.2
_CONNECTIONS = 16
# Questions under way to one server, and keys in each.
_QUESTIONS = 2
_KEYS_PER_QUESTION = 256
_FAILED = (driver.RedisError, driver.RedisClusterException, OSError, TimeoutError)
# The server is there and says no to what was asked of it; but not in these two cases.
_SAID_NO = driver.ResponseError
_CANNOT_SERVE = (driver.ClusterDownError, driver.ReadOnlyError)


def _once() -> Retry:
    """Tried again once, at once, on a connection that had ended unseen; never after a time-out."""
    return Retry(NoBackoff(), 1, supported_errors=(driver.ConnectionError,))


def _client(address: RedisAddress) -> Any:
    """The driver's client: they have the same commands, and types that do not show it."""
    options: dict[str, Any] = {
        "username": address.username,
        "password": address.password,
        "socket_timeout": _SECONDS,
        "socket_connect_timeout": _PROBE_SECONDS,
        "max_connections": _CONNECTIONS,
        **address.tls,
    }
    if address.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in address.hosts]
        never = Retry(NoBackoff(), 0)
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, retry=never, **options)
    if address.kind == "sentinel":
        limits = {"socket_timeout": _SENTINEL_SECONDS, "socket_connect_timeout": _SENTINEL_SECONDS}
        kwargs = {**limits, "retry": _once(), **address.tls}
        sentinel = Sentinel(address.hosts, sentinel_kwargs=kwargs)  # type: ignore[no-untyped-call]
        return sentinel.master_for(address.service, db=address.database, retry=_once(), **options)
    host, port = address.hosts[0]
    return Redis(host=host, port=port, db=address.database, retry=_once(), **options)


class RedisStore:
    """See `SharedStore`. Belongs to the loop that opened it."""

    def __init__(self, address: RedisAddress) -> None:
        self._client = _client(address)
        self._is_cluster = address.kind == "cluster"
        # One for each node of a Cluster, like the breakers below.
        self._together: dict[str, Together[str, bytes | None]] = {}
        # More than there are connections would not wait for one, but fail.
        self._turn = asyncio.Semaphore(_CONNECTIONS)
        # One for each node of a Cluster: a lost one must not make the keys of the others unreachable, nor slow.
        self._breakers: dict[str, Breaker] = {}
        # A server whose memory is full goes on answering reads.
        self.writes = Breaker("Redis writes", failures=1, quiet_seconds=0.0, pause_seconds=1.0)

    @property
    def breakers(self) -> list[Breaker]:
        return [*self._breakers.values(), self.writes]

    @property
    def state(self) -> Literal["connected", "error"]:
        return "connected" if all(breaker.is_closed for breaker in self._breakers.values()) else "error"

    async def ping(self) -> bool:
        if self.state == "error":
            return False
        try:
            return bool(await self._guarded("", self._client.ping))
        except SharedAway:
            return False

    async def memory(self) -> dict[str, Any]:
        """What the server, or the first node of a Cluster, says of its memory."""
        said = await self._guarded("", partial(self._client.info, "memory"))
        return said if "maxmemory_policy" in said else next(iter(said.values()))

    async def get(self, key: str) -> bytes | None:
        """The driver takes some 200 us for a command and hardly more for one with fifty keys (measured)."""
        place = self._place(key)
        if not self._breaker(place).allows():
            raise SharedAway(f"{self._breaker(place).name} is away.")
        if place not in self._together:
            ask = partial(self._ask, place)
            self._together[place] = Together(ask, questions=_QUESTIONS, most_keys=_KEYS_PER_QUESTION)
        return await self._together[place].get(key)

    async def _ask(self, place: str, keys: Sequence[str]) -> list[bytes | None]:
        return await self._guarded(place, partial(self._get_all, keys))

    async def _get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        values: list[bytes | None]
        if not self._is_cluster:
            values = await self._client.mget(keys)
            return values
        # Keys of one node need not be of one slot, as MGET would want them.
        pipeline = self._client.pipeline()
        for key in keys:
            pipeline.get(key)
        values = await pipeline.execute()
        return values

    async def run(self, script: Script, key: str, *arguments: Argument) -> Any:
        async def attempt() -> Any:
            try:
                return await self._client.evalsha(script.digest, 1, key, *arguments)
            except driver.NoScriptError:
                return await self._client.eval(script.text, 1, key, *arguments)

        return await self._writing(self._place(key), attempt)

    async def run_many(self, script: Script, calls: Sequence[Call]) -> None:
        by_place: dict[str, list[Call]] = defaultdict(list)
        for call in calls:
            by_place[self._place(call[0])].append(call)
        failure: SharedAway | None = None
        for place, some in by_place.items():
            try:
                await self._writing(place, partial(self._run_batch, script, some))
            except SharedAway as error:
                failure = error
        if failure is not None:
            raise failure

    async def _run_batch(self, script: Script, calls: Sequence[Call]) -> None:
        pipeline = self._client.pipeline(transaction=False)
        for key, arguments in calls:
            pipeline.execute_command("EVALSHA", script.digest, 1, key, *arguments)
        results = await pipeline.execute(raise_on_error=False)
        unknown = [
            call
            for call, result in zip(calls, results, strict=True)
            if isinstance(result, driver.NoScriptError)
        ]
        pipeline = self._client.pipeline(transaction=False)
        for key, arguments in unknown:
            pipeline.execute_command("EVAL", script.text, 1, key, *arguments)
        results += await pipeline.execute(raise_on_error=False) if unknown else []
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, driver.NoScriptError):
                raise result

    async def close(self) -> None:
        for breaker in self._breakers.values():
            await breaker.close()
        for together in self._together.values():
            await together.close()
        pool = getattr(self._client, "connection_pool", None)
        for client in (self._client, *getattr(getattr(pool, "sentinel_manager", None), "sentinels", ())):
            with contextlib.suppress(*_FAILED):
                await client.aclose()

    def _place(self, key: str) -> str:
        """The node that has the key; one server has all of them."""
        if not self._is_cluster:
            return ""
        try:
            node = self._client.get_node_from_key(key)
        except _FAILED:
            return ""
        return str(node.name) if node is not None else ""

    def _breaker(self, place: str) -> Breaker:
        breaker = self._breakers.get(place)
        if breaker is None:
            name = f"Redis node {place}" if place else "Redis"
            breaker = self._breakers[place] = Breaker(name, lambda: self._probe(place))
        return breaker

    async def _probe(self, place: str) -> None:
        async with asyncio.timeout(_PROBE_SECONDS):
            if not self._is_cluster:
                await self._client.ping()
                return
            # The Cluster may have given the node's keys to another: then nothing is asked of this one any more.
            cluster = self._client
            await cluster.nodes_manager.initialize()
            node = cluster.get_node(node_name=place) if place else cluster.get_default_node()
            if node is not None and node in cluster.get_primaries():
                await node.execute_command("PING")

    async def _writing(self, place: str, attempt: Callable[[], Awaitable[T]]) -> T:
        if not self.writes.allows():
            raise SharedAway("Redis does not take writes now.")
        try:
            result = await self._guarded(place, attempt)
        except SharedAway as error:
            if isinstance(error.__cause__, driver.OutOfMemoryError):
                self.writes.failed(error.__cause__)
            raise
        self.writes.succeeded()
        return result

    async def _guarded(self, place: str, attempt: Callable[[], Awaitable[T]]) -> T:
        breaker = self._breaker(place)
        if not breaker.allows():
            raise SharedAway(f"{breaker.name} is away.")
        try:
            async with asyncio.timeout(_SECONDS), self._turn:
                result = await attempt()
        except _FAILED as error:
            if isinstance(error, _SAID_NO) and not isinstance(error, _CANNOT_SERVE):
                breaker.succeeded()
            else:
                breaker.failed(error)
            raise SharedAway(f"{breaker.name} did not do it ({type(error).__name__}).") from error
        breaker.succeeded()
        return result


def open_redis(url: str) -> RedisStore:
    """Connects when it is first used: a Redis that is away at the start is no reason not to start."""
    return RedisStore(RedisAddress.from_url(url))
