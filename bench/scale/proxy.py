"""nginx in front of the nodes, with the configuration that is shipped in deploy/nginx."""

import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.processes import ROOT, free_port, start, stop, wait_until
from bench.requests import get_status
from bench.tools import find_tool

SHIPPED = ROOT / "deploy" / "nginx"
_NODE = re.compile(r"^ *server 127\.0\.0\.1:8000 (.*;)$", re.MULTILINE)
_RATE = re.compile(r"rate=\d+r/s")

_MAIN = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    log_format attempts '$request_method $uri $status $upstream_connect_time';
    access_log {folder}/access.log attempts;
    keepalive_requests 1000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {shared}
    server {{
        listen 127.0.0.1:{port} reuseport;
        include {locations};
    }}
}}
"""


def shared_part(ports: Sequence[int]) -> str:
    """The shipped file up to its server blocks, with these nodes; all load comes from one address, so without limits."""
    text = (SHIPPED / "laconic.conf").read_text()
    text = text[: re.search(r"^server \{", text, re.MULTILINE).start()]  # type: ignore[union-attr]
    nodes = _NODE.search(text)
    assert nodes is not None, "the shipped file has no node to replace"
    lines = "\n".join(f"    server 127.0.0.1:{port} {nodes[1]}" for port in ports)
    return _RATE.sub("rate=100000r/s", _NODE.sub(lines, text))


class Proxy:
    def __init__(self, folder: Path, ports: Sequence[int]) -> None:
        self.port = free_port()
        self._folder = folder
        folder.mkdir()
        # nginx's worker is another user when its master is root.
        folder.chmod(0o755)
        configuration = folder / "nginx.conf"
        configuration.write_text(
            _MAIN.format(
                folder=folder,
                port=self.port,
                shared=shared_part(ports),
                locations=SHIPPED / "laconic-locations.conf",
            )
        )
        log = folder / "log"
        command = [find_tool("nginx"), "-p", str(folder), "-c", str(configuration)]
        self._process: subprocess.Popen[bytes] = start(command, log=log)
        try:
            wait_until(lambda: get_status(self.port, "/robots.txt") == 200, self._process, log)
        except BaseException:
            self.close()
            raise

    def repeated(self) -> Counter[str]:
        """By path: attempts at a node that had taken the connection, after which another node was asked."""
        found: Counter[str] = Counter()
        for line in (self._folder / "access.log").read_text().splitlines():
            _, path, _, connected = line.split(" ", 3)
            # One time for each node that was asked: `-` when it refused, a number when it took the connection.
            *earlier, _ = connected.replace(" : ", ", ").split(", ")
            found[path] += sum(1 for time in earlier if time != "-")
        return +found

    def close(self) -> None:
        stop(self._process)
