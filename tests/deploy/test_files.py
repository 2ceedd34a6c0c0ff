"""What is shipped under deploy/ is valid for whom it is made, as far as that can be known without a cluster.

nginx and systemd are asked where the machine has them (nginx is a tool of the benchmarks, too); the schemas of Compose
and Kubernetes and the linter of Dockerfiles come with the development lock file.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from bench.scale.proxy import SHIPPED
from bench.tools import find_tool
from laconic.settings import NAMES, read_settings

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))


def run(*command: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=120)


def documents(path: Path) -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load_all(path.read_text())


# Names of settings.


def every_file() -> list[Path]:
    return sorted(path for path in DEPLOY.rglob("*") if path.is_file() and "prometheus" not in path.parts)


@pytest.mark.parametrize("path", every_file(), ids=lambda path: str(path.relative_to(DEPLOY)))
def test_names_settings_that_there_are(path: Path) -> None:
    """A name that is none stops the start."""
    named = set(re.findall(r"LACONIC_[A-Z_]*[A-Z]", path.read_text()))
    assert {name.removesuffix("_FILE") for name in named} <= NAMES.keys()


def test_the_environment_file_is_accepted(tmp_path: Path) -> None:
    """As it is, and with what it only proposes."""
    text = (DEPLOY / "systemd" / "laconic.env.example").read_text()
    for lines in (
        re.findall(r"^(LACONIC_\w+)=(.*)$", text, re.MULTILINE),
        re.findall(r"^#?(LACONIC_\w+)=(.*)$", text, re.MULTILINE),
    ):
        assert lines
        read_settings(dict(lines), folder=tmp_path)


# systemd.


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that is there."""
    path = tmp_path / "laconic.service"
    text = (DEPLOY / "systemd" / "laconic.service").read_text()
    path.write_text(text.replace("/opt/laconic/bin/laconic", sys.executable))
    return path


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd")
def test_systemd_takes_the_unit(unit: Path) -> None:
    """Without a warning, and with hardly anything left that it could do to the system."""
    verified = run("systemd-analyze", "verify", unit)
    assert (verified.returncode, verified.stderr.strip()) == (0, "")
    # 2.0 of 10: what is left is the network, which it is for.
    security = run("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)
    assert security.returncode == 0, security.stdout[-300:]


# nginx and Caddy.


def write_certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "go.example.com")])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today)
        .not_valid_after(today + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    paths = folder / "fullchain.pem", folder / "privkey.pem"
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    paths[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(*plain))
    return paths


@pytest.mark.parametrize("shipped", ["nginx/laconic.conf", "docker/nginx.conf"])
def test_nginx_takes_the_configuration(shipped: str, tmp_path: Path) -> None:
    """`nginx -t`, with a certificate and names that are there."""
    certificate, key = write_certificate(tmp_path)
    text = (DEPLOY / shipped).read_text()
    for before, after in (
        ("/etc/letsencrypt/live/go.example.com/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/go.example.com/privkey.pem", str(key)),
        ("/etc/nginx/laconic-locations.conf", str(SHIPPED / "laconic-locations.conf")),
        ("web1:8000", "127.0.0.1:8001"),
        ("web2:8000", "127.0.0.1:8002"),
    ):
        text = text.replace(before, after)
    # As root, `nginx -t` opens the ports, which may be somebody's.
    text = re.sub(r"listen (\[::\]:)?(80|443)", rf"listen unix:{tmp_path}/\2.sock", text)
    text = re.sub(r"(    listen unix:[^\n]+\n)(    listen unix:[^\n]+\n)", r"\1", text)
    main = tmp_path / "nginx.conf"
    temporary = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main.write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; {temporary} {text} }}"
    )
    tested = run(find_tool("nginx"), "-t", "-p", tmp_path, "-c", main)
    assert tested.returncode == 0, tested.stderr
    assert "[warn]" not in tested.stderr


def test_nothing_is_cached_in_front() -> None:
    """A kept 302 would be a click that nobody counts."""
    for path in (*SHIPPED.glob("*.conf"), DEPLOY / "docker" / "nginx.conf"):
        directives = set(re.findall(r"^\s*(proxy_cache\w*) ([^;]+);", path.read_text(), re.MULTILINE))
        assert directives <= {("proxy_cache", "off")}


@pytest.mark.skipif(shutil.which("caddy") is None, reason="this machine has no Caddy")
def test_caddy_takes_the_configuration() -> None:
    """`caddy adapt` reads it and `caddy validate` builds it."""
    caddyfile = DEPLOY / "caddy" / "Caddyfile"
    validated = run("caddy", "validate", "--config", caddyfile, "--adapter", "caddyfile")
    assert validated.returncode == 0, validated.stderr[-1000:]
    formatted = run("caddy", "fmt", "--diff", caddyfile)
    assert formatted.returncode == 0, formatted.stdout


# Containers.


@pytest.mark.skipif(
    shutil.which("hadolint", path=str(Path(sys.executable).parent)) is None,
    reason="hadolint is in the lock file for Linux on x86-64 only",
)
def test_the_dockerfile_has_no_findings() -> None:
    """Of hadolint."""
    linted = run(Path(sys.executable).with_name("hadolint"), DEPLOY / "docker" / "Dockerfile")
    assert linted.returncode == 0, linted.stdout


def test_the_image_runs_as_nobody_in_particular_and_copies_what_it_names() -> None:
    """Not as root; and a file that was renamed is noticed here, not in a build."""
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    assert re.findall(r"^USER (\S+)$", text, re.MULTILINE) == ["10001:10001"]
    for line in re.findall(r"^COPY ((?!--from)\S.*) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (DEPLOY.parent / name).exists(), name


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((DEPLOY / "docker" / "compose.yml").read_text())
    return document


def test_the_compose_file_is_one(compose: dict[str, Any]) -> None:
    """By the schema of the Compose Specification."""
    schema = json.loads((files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json").read_text())
    jsonschema_rs.validate(schema, compose)


def test_each_web_node_has_its_own_volume_and_ingest(compose: dict[str, Any]) -> None:
    """A journal belongs to one node; the role `web` counts its clicks."""
    web = {name: one for name, one in compose["services"].items() if name.startswith("web")}
    assert len(web) == 2
    volumes = [volume.partition(":")[0] for one in web.values() for volume in one["volumes"]]
    assert sorted(volumes) == sorted(web)
    assert set(volumes) <= compose["volumes"].keys()
    assert all(one["command"] == ["serve", "--role", "web"] for one in web.values())
    assert compose["services"]["background"]["command"] == ["serve", "--role", "background"]
    for one in (*web.values(), compose["services"]["background"]):
        assert one["read_only"]
        assert one["cap_drop"] == ["ALL"]


# Kubernetes.


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_the_manifest_is_valid(path: Path) -> None:
    """By the API's own schema, without a field that it does not know."""
    if path.name == "kustomization.yaml":
        named = next(documents(path))["resources"]
        assert sorted(named) == [one.name for one in MANIFESTS if one != path]
        return
    for document in documents(path):
        kubernetes_validate.validate(document, "1.33", strict=True)


def pods() -> dict[str, dict[str, Any]]:
    return {
        document["metadata"]["name"]: document
        for path in MANIFESTS
        for document in documents(path)
        if document["kind"] in ("StatefulSet", "Deployment")
    }


@pytest.mark.parametrize("name", ["laconic-web", "laconic-background"])
def test_pods_have_no_rights(name: str) -> None:
    """No root, no capabilities, no writable root, no token, and secrets by reference."""
    spec = pods()[name]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert not spec["automountServiceAccountToken"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert all("secretKeyRef" in one["valueFrom"] for one in container["env"])


def test_a_web_pod_keeps_its_journal_and_gets_time_to_stop() -> None:
    """Its volume comes back with it; the notice and the end fit into the time that it is given."""
    web = pods()["laconic-web"]
    assert web["kind"] == "StatefulSet"
    assert [claim["metadata"]["name"] for claim in web["spec"]["volumeClaimTemplates"]] == ["data"]
    spec = web["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    # While the database is away no pod is ready, and cached redirects shall go on.
    assert container["readinessProbe"]["httpGet"]["path"] == "/live"
    assert container["livenessProbe"]["httpGet"]["path"] == "/live"
    settings = next(documents(DEPLOY / "kubernetes" / "settings.yaml"))["data"]
    notice = int(settings["LACONIC_STOP_NOTICE"].removesuffix("s"))
    assert spec["terminationGracePeriodSeconds"] >= notice + 10
