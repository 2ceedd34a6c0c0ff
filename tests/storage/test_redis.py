"""The shared store: one server, Sentinel and Cluster behave the same."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from laconic.errors import SettingInvalid, SharedAway
from laconic.storage import redis
from laconic.storage.engines import open_shared_store
from laconic.storage.redis import RedisStore, open_redis
from laconic.storage.redis_address import RedisAddress
from laconic.storage.shared import Script
from tests.outside.certificate import write_certificate
from tests.redis_servers import ClusterSetup, SentinelSetup, client_of
from tests.servers import RedisServer

_SET = Script("redis.call('SET', KEYS[1], ARGV[1]); return 1")
_FILL = Script("redis.call('SET', KEYS[1], string.rep('x', tonumber(ARGV[1]))); return 1")
_PATIENCE_SECONDS = 30.0


@pytest.fixture(params=["one server", "sentinel", "cluster"], scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "one server":
        with RedisServer() as server:
            yield server.url()
    elif request.param == "sentinel":
        with SentinelSetup().running() as setup:
            yield setup.url
    else:
        with ClusterSetup().running() as cluster:
            yield cluster.url


@pytest.fixture
async def store(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RedisStore]:
    # Here the answers are looked at, and there is no other event to wait for than an answer: one that a busy machine gives
    # late is as good. Tests about servers that do not answer keep the time-out as it is.
    monkeypatch.setattr(redis, "_SECONDS", 20.0)
    store = open_redis(url)
    assert await _eventually(store.ping)
    yield store
    await store.close()


async def _eventually(ask: Callable[[], object]) -> bool:
    """Asks until the answer is yes; a store that is away answers by raising."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while True:
            try:
                answer = ask()
                if asyncio.iscoroutine(answer):
                    answer = await answer
                if answer:
                    return True
            except SharedAway:
                pass
            await asyncio.sleep(0.02)


async def test_a_script_runs_and_its_value_is_read(store: RedisStore) -> None:
    """Also the first time, when the server has not met the script."""
    assert await store.get("key:none") is None
    assert await store.run(_SET, "key:1", b"\x00one") == 1
    assert await store.get("key:1") == b"\x00one"
    assert store.state == "connected"


async def test_many_run_in_one_go_on_whichever_node_has_their_key(store: RedisStore) -> None:
    """With a script that no node has met, too; the later of two writes to a key wins."""
    script = Script(f"-- {id(store)}\nredis.call('SET', KEYS[1], ARGV[1])")
    await store.run_many(script, [(f"many:{n}", [n]) for n in range(300)] + [("many:7", ["last"])])
    assert [await store.get(f"many:{n}") for n in (0, 7, 299)] == [b"0", b"last", b"299"]


async def test_many_at_once_share_the_connections(store: RedisStore) -> None:
    """More callers than connections are answered together; none is refused."""
    await store.run(_SET, "key:shared", "x")
    assert set(await asyncio.gather(*(store.get("key:shared") for _ in range(200)))) == {b"x"}


async def test_a_script_that_fails_does_not_open_the_breaker(store: RedisStore) -> None:
    """The server is there: it has said no to this, and would say yes to something else."""
    for _ in range(10):
        with pytest.raises(SharedAway):
            await store.run(Script("return redis.call('HGET', KEYS[1], 'x', 'y', 'z')"), "key:1")
    assert await store.get("key:none") is None


async def test_a_stopped_server_is_left_alone_and_found_again() -> None:
    """One line each way; while it is stopped, calls fail without waiting."""
    with RedisServer() as server, capture_logs() as lines:
        store = open_redis(server.url())
        await store.run(_SET, "key", "x")
        server.pause()
        await asyncio.sleep(0.2)
        for _ in range(20):
            with pytest.raises(SharedAway):
                await store.get("key")
        assert store.breakers[0].state != "closed"
        assert store.breakers[0].refused >= 10
        server.resume()
        assert await _eventually(lambda: store.get("key"))
        assert store.state == "connected"
        await store.close()
    assert [(line["what"], line["event"]) for line in lines] == [("Redis", "is away"), ("Redis", "is back")]


async def test_a_server_that_is_absent_at_first_is_found_when_it_comes() -> None:
    with RedisServer() as server:
        server.kill()
        store = open_redis(server.url())
        for _ in range(5):
            with pytest.raises(SharedAway):
                await store.get("key")
        assert not await store.ping()
        server.start()
        assert await _eventually(store.ping)
        assert await store.run(_SET, "key", "x") == 1
        await store.close()


async def test_a_full_server_goes_on_answering_reads() -> None:
    """Writes are left out until there is room again."""
    with RedisServer() as server, capture_logs() as lines:
        client = client_of(server)
        store = open_redis(server.url())
        await store.run(_SET, "key", "x")
        client.config_set("maxmemory", 1)
        for _ in range(5):
            with pytest.raises(SharedAway):
                await store.run(_FILL, "more", 1000)
            assert await store.get("key") == b"x"
        assert store.state == "connected"
        client.config_set("maxmemory", 0)
        assert await _eventually(lambda: store.run(_SET, "key", "y"))
        assert await store.get("key") == b"y"
        await store.close()
    assert [(line["what"], line["event"]) for line in lines] == [
        ("Redis writes", "is away"),
        ("Redis writes", "is back"),
    ]


async def test_sentinel_names_a_new_primary_when_the_old_one_dies() -> None:
    """The store finds it without a restart."""
    with SentinelSetup().running() as setup:
        store = open_redis(setup.url)
        assert await _eventually(lambda: store.run(_SET, "key", "old"))
        setup.primary.kill()
        assert await _eventually(lambda: store.run(_SET, "key", "new"))
        assert client_of(setup.replica).get("key") == b"new"
        await store.close()


async def test_a_cluster_without_one_node_serves_the_keys_of_the_others() -> None:
    """The lost node's keys fail at once, and the others' go on."""
    with ClusterSetup().running() as cluster:
        store = open_redis(cluster.url)
        keys = [f"key:{n}" for n in range(60)]
        assert await _eventually(store.ping)
        await store.run_many(_SET, [(key, ["x"]) for key in keys])
        lost = cluster.primaries[1]
        is_lost = {key: store._place(key).endswith(f":{lost.port}") for key in keys}
        assert 0 < sum(is_lost.values()) < len(keys)
        lost.pause()
        for key in [key for key in keys if is_lost[key]][:5]:
            with pytest.raises(SharedAway):
                await store.get(key)
        for key in keys:
            if not is_lost[key]:
                assert await _eventually(lambda key=key: store.get(key))  # type: ignore[misc]
        lost.resume()
        for key in keys:
            assert await _eventually(lambda key=key: store.get(key))  # type: ignore[misc]
        await store.close()


async def test_a_cluster_whose_replica_takes_over_is_whole_again() -> None:
    """The new primary is found without a restart."""
    with ClusterSetup(replicas=True).running() as cluster:
        store = open_redis(cluster.url)
        keys = [f"key:{n}" for n in range(30)]
        assert await _eventually(store.ping)
        await store.run_many(_SET, [(key, ["x"]) for key in keys])
        cluster.primaries[0].kill()
        for key in keys:
            assert await _eventually(lambda key=key: store.run(_SET, key, "y"))  # type: ignore[misc]
        assert {await store.get(key) for key in keys} == {b"y"}
        await store.close()


@contextlib.contextmanager
def _with_certificate(kind: str, certificate: Path) -> Iterator[str]:
    if kind == "one server":
        with RedisServer(certificate) as server:
            yield server.url()
    elif kind == "sentinel":
        with SentinelSetup(certificate).running() as setup:
            yield setup.url
    else:
        with ClusterSetup(certificate).running() as cluster:
            yield cluster.url


@pytest.mark.parametrize("kind", ["one server", "sentinel", "cluster"])
async def test_servers_that_speak_tls_are_asked_by_tls(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every one of them: the Sentinels and all nodes of a Cluster, too. Their certificates are checked."""
    monkeypatch.setattr(redis, "_SECONDS", 20.0)
    certificate = write_certificate(tmp_path, "localhost", "127.0.0.1")
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    with _with_certificate(kind, certificate) as url:
        store = open_redis(url)
        assert await _eventually(store.ping)
        await store.run_many(_SET, [(f"key:{n}", [n]) for n in range(30)])
        assert [await store.get(f"key:{n}") for n in range(30)] == [b"%d" % n for n in range(30)]
        await store.close()
        elsewhere = write_certificate(stranger, "localhost", "127.0.0.1")
        for wrong in (url.replace(str(certificate), str(elsewhere)), url.replace("rediss", "redis", 1)):
            store = open_redis(wrong)
            with pytest.raises(SharedAway):
                await store.run(_SET, "key:1", "overheard")
            await store.close()


@pytest.mark.parametrize(
    ("url", "hosts", "service", "database"),
    [
        ("redis://localhost", (("localhost", 6379),), "", 0),
        ("rediss://user:p%40ss@redis.example.com:7000/3", (("redis.example.com", 7000),), "", 3),
        ("redis://[::1]:7000", (("::1", 7000),), "", 0),
        ("redis+cluster://a:1,b:2", (("a", 1), ("b", 2)), "", 0),
        ("redis+sentinel://a,b:2/main", (("a", 26379), ("b", 2)), "main", 0),
        ("redis+sentinel://:secret@a/main/5", (("a", 26379),), "main", 5),
    ],
)
def test_urls_say_where(url: str, hosts: tuple[tuple[str, int], ...], service: str, database: int) -> None:
    address = RedisAddress.from_url(url)
    assert (address.hosts, address.service, address.database) == (hosts, service, database)
    assert address.password in (None, "p@ss", "secret")


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "redis://",
        "redis://a/x",
        "redis://a:no",
        "redis+sentinel://a",
        "redis://u:secret@a:99999",
        "rediss://a?x=y",
        "redis+cluster://a/3",
    ],
)
def test_urls_that_say_nothing_stop_the_start_without_telling_a_secret(url: str) -> None:
    with pytest.raises(SettingInvalid, match="LACONIC_REDIS_URL") as refused:
        open_shared_store(url)
    assert "secret" not in str(refused.value)


def test_no_url_is_no_store() -> None:
    assert open_shared_store("") is None
