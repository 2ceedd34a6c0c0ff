"""Where Redis is, by its URL.

redis://[user:password@]host:6379/0               one server; rediss:// with TLS
redis+sentinel://host:26379,host:26379/name/0     the server that these Sentinels name
redis+cluster://host:6379,host:6379               a Cluster that any of these nodes knows

rediss+sentinel:// and rediss+cluster:// are the same with TLS to all of them. User and password are the servers', not the
Sentinels'. With TLS `?ssl_ca_certs=FILE` names who vouches for the servers, if the system does not know them.
"""

from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from laconic.errors import SettingInvalid

_PORT = 6379
_SENTINEL_PORT = 26379
_KINDS: dict[str, Literal["one", "cluster", "sentinel"]] = {
    "redis": "one",
    "rediss": "one",
    "redis+cluster": "cluster",
    "rediss+cluster": "cluster",
    "redis+sentinel": "sentinel",
    "rediss+sentinel": "sentinel",
}
_TLS_OPTIONS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs")


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """What a URL says. `tls` are the driver's options for it; without TLS there is none."""

    kind: Literal["one", "cluster", "sentinel"]
    hosts: tuple[tuple[str, int], ...]
    username: str | None
    password: str | None
    service: str
    database: int
    tls: dict[str, Any]

    @classmethod
    def from_url(cls, url: str) -> "RedisAddress":
        scheme, _, rest = url.partition("://")
        kind = _KINDS.get(scheme)
        if kind is None:
            raise SettingInvalid(
                "LACONIC_REDIS_URL must begin with redis://, rediss://, redis+cluster:// or redis+sentinel://."
            )
        try:
            parts = urlsplit(f"redis://{rest}")
            credentials, _, places = parts.netloc.rpartition("@")
            username, _, password = credentials.partition(":")
            service, database = _path(parts.path, kind)
            port = _SENTINEL_PORT if kind == "sentinel" else _PORT
            return cls(
                kind,
                tuple(_host(place, port) for place in places.split(",")),
                unquote(username) or None,
                unquote(password) or None,
                service,
                database,
                _tls(parts.query) if scheme.startswith("rediss") else {},
            )
        except ValueError as error:
            # The text of the URL is left out: it may hold a password.
            raise SettingInvalid(f"LACONIC_REDIS_URL: {error}.") from None


def _path(path: str, kind: str) -> tuple[str, int]:
    parts = [part for part in path.split("/") if part]
    service = parts.pop(0) if kind == "sentinel" and parts else ""
    if kind == "sentinel" and not service:
        raise ValueError("a Sentinel address ends with the name of its primary, as in /mymaster/0")
    if len(parts) > 1 or not all(part.isdecimal() for part in parts):
        raise ValueError("behind the host stands the number of a database, as in /0")
    database = int(parts[0]) if parts else 0
    if kind == "cluster" and database:
        raise ValueError("a Cluster has only the database 0")
    return service, database


def _host(place: str, port: int) -> tuple[str, int]:
    parts = urlsplit(f"redis://{place}")
    if not parts.hostname:
        raise ValueError("a host is missing")
    return parts.hostname, parts.port or port


def _tls(query: str) -> dict[str, Any]:
    options = dict(parse_qsl(query))
    unknown = options.keys() - set(_TLS_OPTIONS)
    if unknown:
        raise ValueError(f"an option may be {', '.join(_TLS_OPTIONS)}")
    return {"ssl": True, **options}
