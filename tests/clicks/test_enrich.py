"""All that a click tells, in one place."""

import subprocess
import sys
from pathlib import Path

from laconic.clicks.enrich import Enricher
from tests.clicks.test_places import BERLIN, write_geoip

_HEAVY = "{'ua_parser', 'ua_parser_rs', 're2', 'crawleruseragents', 'iptocc', 'maxminddb'}"


def test_from_settings(tmp_path: Path) -> None:
    """Plain values make it; a GeoIP file gives it cities."""
    plain = Enricher.from_settings("truncate", "")
    assert not plain.has_cities
    assert plain.places[b"192.0.2.7"].network == "192.0.2.0/24"
    write_geoip(tmp_path / "city.mmdb", {"192.0.2.0/24": BERLIN})
    enricher = Enricher.from_settings("none", str(tmp_path / "city.mmdb"))
    assert enricher.has_cities
    assert enricher.places[b"192.0.2.7"] == (None, "DE", "Berlin")
    assert enricher.agents[b"curl/8.5.0"].is_bot
    assert enricher.referrers[b"https://www.example.com/"].host == "example.com"
    assert enricher.languages[b"de-AT"] == "de"
    enricher.refresh()


def test_importing_it_loads_no_library() -> None:
    """The libraries take 35 MiB: only the process that ingests pays for them, when it makes an Enricher."""
    code = (
        f"import sys, laconic.clicks.enrich, laconic.serve.web_worker; print({_HEAVY} & sys.modules.keys())"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "set()\n"
