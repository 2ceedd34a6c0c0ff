"""Redis as it runs at scale: a primary with a replica under Sentinels, and a Cluster."""

import contextlib
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from tests.servers import RedisServer, _free_port

SERVICE = "laconic"
_SLOTS = 16_384
_PATIENCE_SECONDS = 60.0
_SENTINELS = 3
_HIGHEST_PORT = 55_535


def client_of(server: RedisServer) -> Any:
    tls: dict[str, Any] = {"ssl": True, "ssl_ca_certs": str(server.certificate)} if server.certificate else {}
    return Redis(port=server.port, socket_timeout=5, **tls)


def wait_until(is_so: Any, what: str) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with contextlib.suppress(RedisError, OSError):
            if is_so():
                return
        assert time.monotonic() < deadline, f"{what} has not come about"
        time.sleep(0.05)


def _with_tls(url: str, server: RedisServer) -> str:
    """If the server wants it."""
    if server.certificate is None:
        return url
    return f"{url.replace('redis', 'rediss', 1)}?ssl_ca_certs={server.certificate}"


class SentinelServer(RedisServer):
    """Watches a primary and names the one that is it now."""

    def __init__(self, primary: RedisServer) -> None:
        super().__init__(primary.certificate)
        self._primary = primary

    def _command(self) -> list[str]:
        config = self.folder / "sentinel.conf"
        if not config.exists():
            ports = "\n".join(" ".join(self._ports()).removeprefix("--").split(" --"))
            config.write_text(
                f"{ports}\nbind 127.0.0.1\ndir {self.folder}\n"
                f"sentinel monitor {SERVICE} 127.0.0.1 {self._primary.port} 2\n"
                f"sentinel down-after-milliseconds {SERVICE} 500\nsentinel failover-timeout {SERVICE} 2000\n"
            )
        return [str(self._binary), str(config), "--sentinel"]


class SentinelSetup:
    """A primary, a replica and three Sentinels that agree on which is which."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.primary = RedisServer(certificate)
        self.replica = RedisServer(certificate)
        self.sentinels: list[SentinelServer] = []

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return _with_tls(f"redis+sentinel://{hosts}/{SERVICE}/0", self.primary)

    @contextlib.contextmanager
    def running(self) -> Iterator["SentinelSetup"]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.primary)
            stack.enter_context(self.replica)
            client_of(self.replica).replicaof("127.0.0.1", self.primary.port)
            wait_until(
                lambda: client_of(self.replica).info("replication")["master_link_status"] == "up",
                "the replica",
            )
            for _ in range(_SENTINELS):
                self.sentinels.append(stack.enter_context(SentinelServer(self.primary)))
            wait_until(lambda: all(self._sees_all(one) for one in self.sentinels), "the Sentinels' agreement")
            yield self

    def _sees_all(self, sentinel: SentinelServer) -> bool:
        state = client_of(sentinel).sentinel_master(SERVICE)
        return bool(state["num-other-sentinels"] == _SENTINELS - 1 and state["num-slaves"] == 1)


class ClusterNodeServer(RedisServer):
    def __init__(self, certificate: Path | None = None) -> None:
        super().__init__(certificate)
        # Nodes talk to each other 10,000 ports higher.
        while self.port > _HIGHEST_PORT:
            self.port = _free_port()

    def _command(self) -> list[str]:
        cluster = "--cluster-enabled yes --cluster-node-timeout 1000 --cluster-require-full-coverage no"
        replicas = "--cluster-replica-validity-factor 0"
        tls = ["--tls-cluster", "yes"] if self.certificate else []
        return [*super()._command(), *cluster.split(), *replicas.split(), *tls]


class ClusterSetup:
    """Three primaries; with `replicas` each has one that takes over."""

    def __init__(self, certificate: Path | None = None, *, replicas: bool = False) -> None:
        self.primaries = [ClusterNodeServer(certificate) for _ in range(3)]
        self.replicas = [ClusterNodeServer(certificate) for _ in range(3)] if replicas else []

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.primaries)
        return _with_tls(f"redis+cluster://{hosts}", self.primaries[0])

    @contextlib.contextmanager
    def running(self) -> Iterator["ClusterSetup"]:
        nodes = [*self.primaries, *self.replicas]
        with contextlib.ExitStack() as stack:
            for node in nodes:
                stack.enter_context(node)
            bounds = [*range(0, _SLOTS, _SLOTS // 3 + 1), _SLOTS]
            for number, (node, (first, end)) in enumerate(
                zip(self.primaries, itertools.pairwise(bounds), strict=True), start=1
            ):
                client_of(node).execute_command("CLUSTER ADDSLOTSRANGE", first, end - 1)
                client_of(node).execute_command("CLUSTER SET-CONFIG-EPOCH", number)
            for node in nodes[1:]:
                client_of(node).execute_command("CLUSTER MEET", "127.0.0.1", nodes[0].port)
            wait_until(lambda: all(_knows(node, len(nodes)) for node in nodes), "the Cluster")
            for replica, primary in zip(self.replicas, self.primaries, strict=False):
                client_of(replica).execute_command("CLUSTER REPLICATE", _id_of(primary))
            wait_until(
                lambda: all(_is_linked(replica) for replica in self.replicas), "the Cluster's replicas"
            )
            yield self


def _knows(node: ClusterNodeServer, count: int) -> bool:
    info = client_of(node).execute_command("CLUSTER INFO")
    text = info if isinstance(info, dict) else {}
    return text.get("cluster_state") == "ok" and int(text.get("cluster_known_nodes", 0)) == count


def _id_of(node: ClusterNodeServer) -> str:
    identity = client_of(node).execute_command("CLUSTER MYID")
    return identity.decode() if isinstance(identity, bytes) else str(identity)


def _is_linked(replica: ClusterNodeServer) -> bool:
    info: Any = client_of(replica).info("replication")
    return bool(info["role"] == "slave" and info["master_link_status"] == "up")
