"""Web nodes, a background node and nginx in front; and for the whole of it PostgreSQL with a standby and a Redis Cluster."""

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
    def __init__(self, folder: Path, database_url: str, redis_url: str = "", *, web_nodes: int = 3) -> None:
        self.folder = folder
        self._web_nodes = web_nodes
        self._settings = {
            "LACONIC_DATABASE_URL": database_url,
            "LACONIC_REDIS_URL": redis_url,
            "LACONIC_BASE_URL": f"http://localhost:{free_port()}",
            "LACONIC_TRUSTED_PROXIES": "127.0.0.1",
            "LACONIC_RATE_API": "100000/s burst 100000",
            "LACONIC_KGS_POOL_MIN_SIZE": _POOL,
        }
        self.web: list[Node] = []
        self.background: Node
        self.proxy: Proxy
        self.key = ""

    @contextmanager
    def running(self) -> Iterator["Deployment"]:
        with ExitStack() as stack:
            self.background = self._start(stack, "background", "background")
            for number in range(1, self._web_nodes + 1):
                self.web.append(self._start(stack, f"web{number}", "web"))
            self.key = self.web[0].run("key", "create", "scale")
            self.proxy = Proxy(self.folder / "nginx", [node.port for node in self.web])
            stack.callback(self.proxy.close)
            yield self

    def _start(self, stack: ExitStack, name: str, role: str) -> Node:
        node = Node(name, role, self.folder, self._settings)
        stack.callback(node.close)
        node.start()
        return node

    def stop_nodes(self) -> list[int]:
        """In their orderly way, so that every click is counted. Their exit statuses."""
        nodes = [*self.web, self.background]
        for node in nodes:
            node.begin_end()
        return [node.wait_for_end() for node in nodes]


@contextmanager
def whole_deployment(folder: Path, *, web_nodes: int) -> Iterator[tuple[Deployment, PostgresPair]]:
    """As at scale: PostgreSQL with a synchronous standby, a Redis Cluster of three."""
    redis = ClusterSetup()
    with PostgresPair(durable=True).running() as postgres, redis.running():
        deployment = Deployment(folder, postgres.url, redis.url, web_nodes=web_nodes)
        with deployment.running():
            yield deployment, postgres
