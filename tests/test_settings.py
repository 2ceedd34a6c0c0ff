"""Settings: from the environment, from files, from laconic.toml; wrong ones stop the start and say why."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from laconic.clock import DAY, HOUR, MINUTE, SECOND
from laconic.errors import SettingInvalid
from laconic.settings import NAMES, Rate, Settings, read_settings


def test_defaults_are_those_of_the_contract(tmp_path: Path) -> None:
    """Nothing has to be set."""
    settings = read_settings({}, folder=tmp_path)
    assert settings == Settings()
    assert (settings.host, settings.port, settings.workers, settings.open) == ("127.0.0.1", 8000, 1, False)
    assert (settings.code_length, settings.custom_code_pattern) == (7, "^[a-zA-Z0-9]{4,8}$")
    assert (settings.redirect_status, settings.max_url_length, settings.private_targets) == (
        302,
        2048,
        "refuse",
    )
    assert (settings.kgs_pool_min_size, settings.kgs_batch_size) == (100_000, 10_000)
    assert (settings.url_cache_ttl, settings.max_stale) == (HOUR, HOUR)
    assert (settings.cleanup_enabled, settings.cleanup_interval, settings.cleanup_batch_size) == (
        True,
        15 * MINUTE,
        1000,
    )
    assert (settings.cleanup_buffer_time, settings.cleanup_max_duration) == (HOUR, 5 * MINUTE)
    assert (settings.cleanup_purge_after, settings.privacy) == (30 * DAY, "truncate")
    assert (settings.rate_create, settings.rate_api) == (Rate(10, 20), Rate(100, 50))


def test_settings_are_frozen() -> None:
    """Read once; nobody changes them later."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("port", "0", 0),
        ("port", " 8080 ", 8080),
        ("workers", "4", 4),
        ("open", "true", True),
        ("open", "Off", False),
        ("open", "1", True),
        ("base_url", "https://Go.Example.com/", "https://go.example.com"),
        ("base_url", "http://localhost:8000", "http://localhost:8000"),
        ("base_url", "http://[::1]:8000", "http://[::1]:8000"),
        ("base_url", "https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ("trusted_proxies", "10.0.0.0/8, ::1", ("10.0.0.0/8", "::1")),
        ("trusted_proxies", "", ()),
        ("code_length", "8", 8),
        ("redirect_status", "308", 308),
        ("cleanup_interval", "90s", 90 * SECOND),
        ("cleanup_interval", "90", 90 * SECOND),
        ("cleanup_interval", "2 h", 2 * HOUR),
        ("cleanup_purge_after", "45d", 45 * DAY),
        ("rate_create", "5/s", Rate(5, 5)),
        ("rate_create", "5/s burst 9", Rate(5, 9)),
        ("private_targets", "allow", "allow"),
        ("custom_code_pattern", "^[a-z_-]{1,20}$", "^[a-z_-]{1,20}$"),
        ("log_format", "json", "json"),
    ],
)
def test_reads_what_is_given(tmp_path: Path, name: str, text: str, value: Any) -> None:
    """From a variable, or the same text from laconic.toml."""
    assert getattr(read_settings({f"LACONIC_{name.upper()}": text}, folder=tmp_path), name) == value
    (tmp_path / "laconic.toml").write_text(f"{name} = '{text}'")
    assert getattr(read_settings({}, folder=tmp_path), name) == value


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("PORT", "http", "a whole number from 0 to 65535"),
        ("PORT", "65536", "a whole number from 0 to 65535"),
        ("PORT", "-1", "a whole number"),
        ("PORT", "1" * 30, "a whole number"),
        ("PORT", "٨٠٨٠x", "a whole number"),
        ("WORKERS", "0", "from 1 to 256"),
        ("OPEN", "maybe", "true or false"),
        ("OPEN", "", "true or false"),
        ("BASE_URL", "example.com", "the address people use"),
        ("BASE_URL", "ftp://example.com", "the address people use"),
        ("BASE_URL", "https://example.com/go", "without a path"),
        ("BASE_URL", "https://user@example.com", "the address people use"),
        ("BASE_URL", "https://", "the address people use"),
        ("BASE_URL", "https://[::1", "the address people use"),
        ("BASE_URL", "https://example.com:port", "the address people use"),
        ("BASE_URL", "https://example.com:99999", "the address people use"),
        ("BASE_URL", "https://exa mple.com", "the address people use"),
        ("BASE_URL", "https://bücher.example", "the address people use"),
        ("BASE_URL", "https://example.com?a=1", "the address people use"),
        ("TRUSTED_PROXIES", "10.0.0.0/8, nonsense", "addresses or networks"),
        ("CODE_LENGTH", "4", "from 5 to 8"),
        ("CODE_LENGTH", "9", "from 5 to 8"),
        ("CUSTOM_CODE_PATTERN", "[a-z", "a regular expression"),
        ("REDIRECT_STATUS", "303", "301, 302, 307 or 308"),
        ("REDIRECT_STATUS", "200", "301"),
        ("MAX_URL_LENGTH", "10", "a whole number"),
        ("PRIVATE_TARGETS", "yes", "one of refuse, allow"),
        ("CLEANUP_INTERVAL", "soon", "a duration"),
        ("CLEANUP_INTERVAL", "-5m", "a duration"),
        ("RATE_CREATE", "fast", "a rate"),
        ("RATE_CREATE", "0/s", "a rate"),
        ("RATE_CREATE", "5/s burst 0", "a rate"),
        ("PRIVACY", "some", "one of full, truncate, none"),
        ("LOG_LEVEL", "loud", "one of debug, info, warning, error"),
    ],
)
def test_invalid_value_stops_the_start(tmp_path: Path, name: str, text: str, says: str) -> None:
    """With the name and what is allowed."""
    with pytest.raises(SettingInvalid) as stopped:
        read_settings({f"LACONIC_{name}": text}, folder=tmp_path)
    assert f"LACONIC_{name} must be " in str(stopped.value)
    assert says in str(stopped.value)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("LACONIC_BASEURL", "LACONIC_BASE_URL"),
        ("LACONIC_DATABSE_URL", "LACONIC_DATABASE_URL"),
        ("LACONIC_WORKER", "LACONIC_WORKERS"),
        ("LACONIC_base_url", "LACONIC_BASE_URL"),
        ("LACONIC_", "LACONIC_"),
    ],
)
def test_unknown_name_stops_the_start(tmp_path: Path, wrong: str, right: str) -> None:
    """And names the nearest one that there is."""
    with pytest.raises(SettingInvalid, match=f"no setting {wrong}. Did you mean {right}"):
        read_settings({wrong: "x"}, folder=tmp_path)


def test_other_programs_variables_are_left_alone(tmp_path: Path) -> None:
    """Only what begins with LACONIC_ is ours."""
    assert read_settings({"PATH": "/bin", "LACONICUS": "x"}, folder=tmp_path) == Settings()


def test_secret_comes_from_a_file(tmp_path: Path) -> None:
    """LACONIC_DATABASE_URL_FILE names a file that holds the value; its last line end does not count."""
    secret = tmp_path / "secret"
    secret.write_text("postgresql://user:pw@db/laconic\n")
    settings = read_settings({"LACONIC_DATABASE_URL_FILE": str(secret)}, folder=tmp_path)
    assert settings.database_url == "postgresql://user:pw@db/laconic"


def test_variable_itself_wins_over_its_file(tmp_path: Path) -> None:
    """In whichever order they stand in the environment."""
    (tmp_path / "secret").write_text("from-file")
    both = {"LACONIC_REGION": "direct", "LACONIC_REGION_FILE": str(tmp_path / "secret")}
    for environment in (both, dict(reversed(both.items()))):
        assert read_settings(environment, folder=tmp_path).region == "direct"


def test_unreadable_secret_stops_the_start(tmp_path: Path) -> None:
    """With the variable and the path."""
    with pytest.raises(SettingInvalid, match="LACONIC_REDIS_URL_FILE: the file /nowhere cannot be read"):
        read_settings({"LACONIC_REDIS_URL_FILE": "/nowhere"}, folder=tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingInvalid):
        read_settings({"LACONIC_REDIS_URL_FILE": str(tmp_path / "binary")}, folder=tmp_path)


def test_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path) -> None:
    """None on the command line means that nothing was said."""
    (tmp_path / "laconic.toml").write_text(
        'port = 1000\nworkers = 2\nopen = true\ntrusted_proxies = ["10.0.0.1", "::1"]\n'
    )
    settings = read_settings({"LACONIC_PORT": "2000"}, folder=tmp_path, workers=5, host=None)
    assert (settings.port, settings.workers, settings.open, settings.host) == (2000, 5, True, "127.0.0.1")
    assert settings.trusted_proxies == ("10.0.0.1", "::1")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prot = 1", "prot"),
        ("port = ", "laconic.toml"),
        ("port = 'x'", "LACONIC_PORT"),
        ("[server]\nport = 1", "server"),
    ],
)
def test_wrong_file_stops_the_start(tmp_path: Path, text: str, says: str) -> None:
    """Unknown names, bad syntax and bad values alike."""
    (tmp_path / "laconic.toml").write_text(text)
    with pytest.raises(SettingInvalid, match=says):
        read_settings({}, folder=tmp_path)


def test_database_is_in_the_data_folder_unless_said_otherwise(tmp_path: Path) -> None:
    """An absolute path, wherever the program was started."""
    settings = Settings(data=str(tmp_path / "here"))
    assert settings.effective_database_url == f"sqlite:///{tmp_path}/here/laconic.db"
    assert settings.journal_folder == tmp_path / "here" / "journal"
    assert Settings(database_url="postgresql://db/x").effective_database_url == "postgresql://db/x"


def test_every_setting_has_a_help_text() -> None:
    """What `docs/settings.md` and people read."""
    for name, known in NAMES.items():
        assert known.metadata["help"].endswith((".", "…", "none.")), name
