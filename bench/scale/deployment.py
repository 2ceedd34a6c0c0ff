"""PostgreSQL with a standby, a Redis Cluster of three, web nodes, a background node, and nginx in front."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.processes import free_port
from bench.scale.nodes import Node
from bench.scale.postgres_pair import PostgresPair
from bench.scale.proxy import Proxy
from tests.redis_servers import ClusterSetup

_POOL = "2000"


class Deployment:
    def __init__(self, folder: Path, *, web_nodes: int = 3, durable: bool = True) -> None:
        self.folder = folder
        self.postgres = PostgresPair(durable=durable)
        self.redis = ClusterSetup()
        self._web_nodes = web_nodes
        self.web: list[Node] = []
        self.background: Node
        self.proxy: Proxy
        self.key = ""

    @contextmanager
    def running(self) -> Iterator["Deployment"]:
        with ExitStack() as stack:
            stack.enter_context(self.postgres.running())
            stack.enter_context(self.redis.running())
            settings = {
                "LACONIC_DATABASE_URL": self.postgres.url,
                "LACONIC_REDIS_URL": self.redis.url,
                "LACONIC_BASE_URL": f"http://localhost:{free_port()}",
                "LACONIC_TRUSTED_PROXIES": "127.0.0.1",
                "LACONIC_RATE_API": "100000/s burst 100000",
                "LACONIC_KGS_POOL_MIN_SIZE": _POOL,
            }
            self.background = self._start(stack, "background", "background", settings)
            for number in range(1, self._web_nodes + 1):
                self.web.append(self._start(stack, f"web{number}", "web", settings))
            self.key = self.web[0].run("key", "create", "scale")
            self.proxy = Proxy(self.folder / "nginx", [node.port for node in self.web])
            stack.callback(self.proxy.close)
            yield self

    def _start(self, stack: ExitStack, name: str, role: str, settings: dict[str, str]) -> Node:
        node = Node(name, role, self.folder, settings)
        stack.callback(node.close)
        node.start()
        return node

    def stop_nodes(self) -> list[int]:
        """In their orderly way, so that every click is counted. Their exit statuses."""
        nodes = [*self.web, self.background]
        for node in nodes:
            node.begin_end()
        return [node.wait_for_end() for node in nodes]
