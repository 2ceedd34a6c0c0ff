"""Every setting: name, type, default, help. Read once, frozen.

From `LACONIC_*` variables, from `LACONIC_*_FILE` (a file that holds the value, for secrets), or from
`laconic.toml` in the working folder, in this order. An unknown name stops the start and names the nearest known one.
"""

import dataclasses
import difflib
import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from laconic.clock import DAY, HOUR, MINUTE, SECOND
from laconic.errors import SettingInvalid

PREFIX = "LACONIC_"
CONFIG_FILE = "laconic.toml"

_UNITS = {"": SECOND, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a second, and so many at once."""

    per_second: float
    burst: int

    def __str__(self) -> str:
        return f"{self.per_second:g}/s burst {self.burst}"


def _text(value: str) -> str:
    return value


def _truth(value: str) -> bool:
    words = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    if value.lower() not in words:
        raise ValueError("true or false")
    return words[value.lower()]


def _number(least: int, most: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not re.fullmatch(r"\d{1,18}", value) or not least <= int(value) <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return int(value)

    return parse


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return value

    return parse


def _duration(value: str) -> int:
    match = re.fullmatch(r"(\d{1,9})\s*([smhd]?)", value)
    if not match:
        raise ValueError("a duration such as 90s, 15m, 1h or 30d")
    return int(match[1]) * _UNITS[match[2]]


def _rate(value: str) -> Rate:
    match = re.fullmatch(r"(\d{1,6})/s(?: burst (\d{1,6}))?", value)
    if not match or 0 in (int(match[1]), int(match[2] or 1)):
        raise ValueError("a rate such as '10/s burst 20'")
    return Rate(float(match[1]), int(match[2] or match[1]))


def _networks(value: str) -> tuple[str, ...]:
    networks = tuple(part.strip() for part in value.split(",") if part.strip())
    try:
        for network in networks:
            ipaddress.ip_network(network, strict=False)
    except ValueError:
        raise ValueError("addresses or networks, separated by commas, such as 10.0.0.0/8, ::1") from None
    return networks


# A name in another script is given as browsers send it, in ASCII (xn--...).
_NETLOC = re.compile(r"[a-z0-9._-]+(:[0-9]{1,5})?|\[[0-9a-f:.]+\](:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)


def _base_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        is_address = _NETLOC.fullmatch(parts.netloc) and parts.port != 0
    except ValueError:
        raise ValueError("the address people use, such as https://example.com") from None
    if parts.scheme not in ("http", "https") or not is_address or parts.query or parts.fragment:
        raise ValueError("the address people use, such as https://example.com")
    if parts.path not in ("", "/"):
        raise ValueError("an address without a path, such as https://example.com")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _issuer(value: str) -> str:
    parts = urlsplit(value)
    is_local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if value and not (parts.scheme == "https" and parts.hostname) and not is_local:
        raise ValueError("the provider's https:// address, as it calls itself")
    return value


def _collector(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError(
            "the address of a collector that takes OTLP over HTTP, such as http://localhost:4318"
        )
    return value


def _code_pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error:
        raise ValueError("a regular expression such as ^[a-zA-Z0-9]{4,8}$") from None
    return value


_REGION = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")


def _region(value: str) -> str:
    if not _REGION.fullmatch(value):
        raise ValueError("a name of at most 32 small letters, digits and hyphens, such as eu-west")
    return value


def _prefixes(value: str) -> tuple[tuple[str, str], ...]:
    pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
    prefixes = {region.strip(): first.strip() for region, _, first in pairs}
    is_shape = all(
        _REGION.fullmatch(name) and re.fullmatch("[A-Za-z0-9]", prefixes[name]) for name in prefixes
    )
    if not is_shape or len(prefixes) < len(pairs) or len(set(prefixes.values())) < len(pairs):
        raise ValueError("regions with a letter or digit each, no two the same, such as eu=A,us=B")
    return tuple(prefixes.items())


def _setting(default: Any, parse: Callable[[str], Any], help_text: str) -> Any:
    return field(default=default, metadata={"parse": parse, "help": help_text})


@dataclass(frozen=True, slots=True)
class Settings:
    """What an installation can be told. Field `base_url` is set by LACONIC_BASE_URL, and so on."""

    data: str = _setting("data", _text, "The folder for the database, the click journals and the lock.")
    database_url: str = _setting(
        "", _text, "sqlite:///FOLDER/laconic.db (default: in the data folder) or postgresql://…"
    )
    database_owner_url: str = _setting(
        "", _text, "The URL of the role that owns the tables, where it is another one."
    )
    database_replica_url: str = _setting("", _text, "A replica that reports may read.")
    redis_url: str = _setting(
        "", _text, "redis://, rediss://, redis+cluster:// or redis+sentinel://; empty: no Redis."
    )
    host: str = _setting("127.0.0.1", _text, "The address to listen on.")
    port: int = _setting(8000, _number(0, 65535), "The port to listen on; 0 picks a free one.")
    workers: int = _setting(1, _number(1, 256), "How many web workers answer on this machine.")
    stop_notice: int = _setting(
        0, _duration, "How long /ready says no before a server that stops takes no new connections."
    )
    base_url: str = _setting(
        "", _base_url, "The address people use; short URLs begin with it. Default: host and port."
    )
    open: bool = _setting(False, _truth, "Anyone may create links, limited by address, and nothing more.")
    trusted_proxies: tuple[str, ...] = _setting(
        (), _networks, "Proxies whose forwarded headers are believed."
    )
    region: str = _setting("default", _region, "The region whose codes this installation makes.")
    region_prefixes: tuple[tuple[str, str], ...] = _setting(
        (), _prefixes, "First characters of regions, such as eu=A,us=B."
    )
    code_length: int = _setting(7, _number(5, 8), "Characters of a generated code.")
    custom_code_pattern: str = _setting(
        "^[a-zA-Z0-9]{4,8}$", _code_pattern, "What a custom code must match; at most 20 of [a-zA-Z0-9_-]."
    )
    redirect_status: int = _setting(
        302, _number(301, 308), "301, 302, 307 or 308: for links that do not say."
    )
    max_url_length: int = _setting(2048, _number(64, 65536), "Characters that a URL may have, as given.")
    private_targets: str = _setting(
        "refuse",
        _one_of("refuse", "allow"),
        "Whether links may lead to private addresses: intranets say allow.",
    )
    kgs_pool_min_size: int = _setting(100_000, _number(0, 1 << 40), "Codes that are kept ready.")
    kgs_batch_size: int = _setting(10_000, _number(1, 1_000_000), "Codes that are made ready at a time.")
    cache_entries: int = _setting(
        200_000, _number(0, 100_000_000), "Links that a worker remembers at most; 0: none."
    )
    cache_bytes: int = _setting(
        128 * 1024 * 1024, _number(0, 1 << 40), "Bytes that a worker's memory of links may take."
    )
    url_cache_ttl: int = _setting(HOUR, _duration, "How long the shared cache keeps a link.")
    max_stale: int = _setting(HOUR, _duration, "How long known links work while the database is away.")
    cleanup_enabled: bool = _setting(True, _truth, "Whether expired links are retired in the background.")
    cleanup_interval: int = _setting(15 * MINUTE, _duration, "How often.")
    cleanup_batch_size: int = _setting(1_000, _number(1, 100_000), "Links in one step.")
    cleanup_buffer_time: int = _setting(HOUR, _duration, "How long after the expiry, for clocks that differ.")
    cleanup_max_duration: int = _setting(5 * MINUTE, _duration, "How long one run may take.")
    cleanup_purge_after: int = _setting(
        30 * DAY, _duration, "When the texts of links that are gone are blanked."
    )
    click_retention: int = _setting(396 * DAY, _duration, "How long single clicks are kept: 13 months.")
    click_archive_dir: str = _setting("", _text, "Where single clicks are archived before they are dropped.")
    backup_dir: str = _setting("", _text, "The folder for backups by the clock; empty: none are made.")
    backup_interval: int = _setting(DAY, _duration, "How often.")
    backup_compress_after: int = _setting(7 * DAY, _duration, "When a backup is compressed.")
    backup_keep: int = _setting(30 * DAY, _duration, "When a backup is removed; the newest one stays.")
    integrity_interval: int = _setting(
        7 * DAY, _duration, "How often the database is read to see whether it is whole; 0: never."
    )
    geoip_file: str = _setting("", _text, "A .mmdb file of your own, for cities.")
    privacy: str = _setting(
        "truncate", _one_of("full", "truncate", "none"), "What is kept of a visitor's address."
    )
    rate_create: Rate = _setting(Rate(10, 20), _rate, "Creates per address, where anyone may create.")
    rate_api: Rate = _setting(Rate(100, 50), _rate, "Requests per API key.")
    oidc_issuer: str = _setting(
        "", _issuer, "An OpenID Connect provider that people sign in through; empty: none."
    )
    oidc_client_id: str = _setting("", _text, "What the provider knows this installation as.")
    oidc_client_secret: str = _setting("", _text, "What this installation proves itself with, if anything.")
    oidc_scopes: str = _setting("openid email profile", _text, "What the provider is asked for.")
    oidc_name: str = _setting("single sign-on", _text, "What the sign-in page calls the provider.")
    metrics_token: str = _setting("", _text, "A secret that lets Prometheus read /metrics; empty: none.")
    metrics_from: tuple[str, ...] = _setting(
        ("127.0.0.1", "::1"), _networks, "Addresses that may read /metrics without a secret."
    )
    smtp_host: str = _setting(
        "", _text, "A mail server that sends invitations; empty: they are links that you send yourself."
    )
    smtp_port: int = _setting(587, _number(1, 65535), "Its port.")
    smtp_tls: str = _setting(
        "starttls", _one_of("starttls", "tls", "none"), "How the connection is made safe."
    )
    smtp_user: str = _setting("", _text, "Who signs in there; empty: nobody.")
    smtp_password: str = _setting("", _text, "With what.")
    smtp_from: str = _setting(
        "", _text, "The sender, such as links@example.com. Default: laconic@ the base host."
    )
    traces_endpoint: str = _setting(
        "", _collector, "An OpenTelemetry collector, such as http://localhost:4318; empty: no traces."
    )
    traces_percent: int = _setting(100, _number(0, 100), "How many of a hundred requests are traced.")
    log_level: str = _setting(
        "info", _one_of("debug", "info", "warning", "error"), "The least that is logged."
    )
    log_format: str = _setting("text", _one_of("text", "json"), "How log lines look.")

    def sqlite_default(self) -> str:
        return f"sqlite:///{Path(self.data).resolve() / 'laconic.db'}"

    @property
    def effective_database_url(self) -> str:
        return self.database_url or self.sqlite_default()

    @property
    def data_folder(self) -> Path:
        return Path(self.data).resolve()

    @property
    def owner_database_url(self) -> str:
        """For what is done for all tenants: look-ups, ingest, upkeep."""
        return self.database_owner_url or self.effective_database_url

    @property
    def journal_folder(self) -> Path:
        return Path(self.data).resolve() / "journal"


NAMES: dict[str, dataclasses.Field[Any]] = {
    PREFIX + known.name.upper(): known for known in dataclasses.fields(Settings)
}


def says_json_logs(environment: Mapping[str, str] | None = None) -> bool:
    """For a start that fails over the settings themselves."""
    given = os.environ if environment is None else environment
    return given.get(f"{PREFIX}LOG_FORMAT", "").strip() == "json"


def read_settings(
    environment: Mapping[str, str] | None = None, *, folder: Path = Path(), **overrides: Any
) -> Settings:
    """The settings of this process. `overrides` are what the command line said; None means that it did not."""
    given = _from_file(folder / CONFIG_FILE) | _from_environment(
        os.environ if environment is None else environment
    )
    values = {known.name: _parse(name, known, given[name]) for name, known in NAMES.items() if name in given}
    values |= {name: value for name, value in overrides.items() if value is not None}
    settings = Settings(**values)
    if settings.redirect_status not in (301, 302, 307, 308):
        raise SettingInvalid(
            f"LACONIC_REDIRECT_STATUS must be 301, 302, 307 or 308, not {settings.redirect_status}."
        )
    return settings


def _parse(name: str, known: dataclasses.Field[Any], value: str) -> Any:
    try:
        return known.metadata["parse"](value.strip())
    except ValueError as error:
        raise SettingInvalid(f"{name} must be {error}.") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in environment.items():
        if not name.startswith(PREFIX):
            continue
        plain = name.removesuffix("_FILE")
        if name in NAMES:
            given[name] = value
        elif plain in NAMES:
            given.setdefault(plain, _read_secret(name, value))
        else:
            raise _unknown(name)
    return given


def _read_secret(name: str, path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingInvalid(f"{name}: the file {path} cannot be read ({error}).") from None


def _from_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingInvalid(f"{path}: {error}") from None
    given = {}
    for key, value in table.items():
        name = PREFIX + key.upper()
        if name not in NAMES:
            raise _unknown(name, where=f"{path}: {key}")
        given[name] = _as_text(value)
    return given


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _unknown(name: str, where: str = "") -> SettingInvalid:
    nearest = difflib.get_close_matches(name.upper(), NAMES, n=1, cutoff=0.0)
    return SettingInvalid(f"There is no setting {where or name}. Did you mean {nearest[0]}?")
