"""The servers that Laconic is measured beside."""

import sys
from pathlib import Path

from bench import requests
from bench.processes import ROOT, free_port
from bench.servers.server import Server

# As long as the URLs of the links that Laconic serves, and with the headers that its answers carry.
_NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    server_tokens off;
    keepalive_requests 1000000000;
    keepalive_timeout 75;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            add_header Cache-Control "private, no-cache, no-store, must-revalidate";
            add_header Pragma no-cache;
            add_header Expires 0;
            return 302 https://example.com/articles/000000000001;
        }}
    }}
}}
"""


def start_nginx(binary: str, folder: Path, cores: frozenset[int]) -> Server:
    """One worker that answers every path alike: no look-up, no click."""
    folder.mkdir()
    port = free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(_NGINX.format(folder=folder, port=port))
    return Server(
        "nginx",
        [binary, "-p", str(folder), "-c", str(configuration)],
        port,
        folder / "log",
        is_up=lambda: requests.get_status(port, "/x") == 302,
        cores=cores,
    )


def start_bare_fastapi(folder: Path, cores: frozenset[int]) -> Server:
    port = free_port()
    return Server(
        "bare FastAPI",
        [sys.executable, str(ROOT / "bench" / "references" / "bare_fastapi.py"), "--port", str(port)],
        port,
        folder / "fastapi.log",
        is_up=lambda: requests.get_status(port, "/x") == 302,
        cores=cores,
    )
