"""Nothing secret in logs, error bodies, URLs, or in clear in the database: secrets are planted and searched for."""

import asyncio
import logging
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from laconic.logs import set_up_logs
from laconic.workspaces.model import command_actor
from tests.flows.server import COMMAND, LaconicServer, eventually
from tests.web.api.opened import Api, opener
from tests.web.people import browser, make_user
from tests.web.site import form_token

PASSWORD = "planted-password-7319"
WRONG = "planted-wrong-password-4471"
NEW = "planted-new-password-5523"


async def walk(api: Api) -> tuple[list[str], list[httpx.Response]]:
    """Every secret there is, used rightly and wrongly; gives the secrets and all answers."""
    answers: list[httpx.Response] = []
    user = await make_user(api, "ann@example.com", "admin", password=PASSWORD)
    secrets = [PASSWORD, WRONG, NEW]
    one = browser(api)

    async def note(response: httpx.Response) -> httpx.Response:
        answers.append(response)
        return response

    async with one.client as client:
        await note(await one.sign_in(user.email, WRONG))
        await note(await one.sign_in(user.email, PASSWORD))
        secrets += [value for name, value in client.cookies.items() if "session" in name]
        # The page's own token has to be in the page.
        await note(await client.get("/dashboard"))
        made = await one.change("POST", "/api/v1/api-keys", json={"name": "k", "scopes": ["admin"]})
        key = made.json()["secret"]
        secrets.append(key[15:])  # the beginning is shown on purpose
        invited = await one.change("POST", "/api/v1/invitations", json={"role": "viewer"})
        token = invited.json()["url"].rpartition("/")[2]
        secrets.append(token)
        page = await client.get(f"/dashboard/invitation/{token}")
        fields = {"token": form_token(page.text), "invitation": token, "email": "bob@example.com"}
        await note(await client.post("/dashboard/invitation", data={**fields, "password": NEW}))
        await note(await client.post("/dashboard/invitation", data={**fields, "password": NEW}))
        edit = {"password": NEW, "current_password": WRONG}
        await note(await one.change("PATCH", "/api/v1/me", json=edit))
    async with api.client(authorization=f"Bearer {key}") as program:
        await note(await program.get("/api/v1/urls"))
        await note(await program.get("/api/v1/api-keys"))
        await note(await program.post("/api/v1/users", json={"email": "x", "password": WRONG}))
        await note(await program.post("/api/v1/users", json={"email": "ann@example.com", "password": NEW}))
        await note(await program.post("/api/v1/users", json={"password": NEW, "nonsense": WRONG}))
        await note(
            await program.post(
                "/api/v1/users",
                content=f'{{"password": "{NEW}'.encode(),
                headers={"content-type": "application/json"},
            )
        )
        await note(await program.get("/api/v1/audit"))
        await note(await program.get("/api/v1/audit/export"))
        await note(await program.get("/api/v1/nothing-here"))
    async with api.client(authorization=f"Bearer {key}x") as program:
        await note(await program.get("/api/v1/urls"))
    async with api.client(authorization=f"Basic {key}") as program:
        await note(await program.get("/api/v1/urls"))
    secrets.append(await _reset(api, key, note))
    key_id = (await api.services.workspaces.list_keys(1))[0].id
    rotated, _ = await api.services.api_keys.rotate(command_actor(1), key_id, 0)
    secrets.append(rotated[15:])
    return secrets, answers


async def _reset(api: Api, key: str, note: Callable[[httpx.Response], Awaitable[httpx.Response]]) -> str:
    """A link for a new password, used and used again; gives its token."""
    async with api.client(authorization=f"Bearer {key}") as program:
        users = (await program.get("/api/v1/users")).json()["items"]
        bob = next(user["id"] for user in users if user["email"] == "bob@example.com")
        made = await program.post(f"/api/v1/users/{bob}/password-reset", json={})
    token = str(made.json()["url"].rpartition("/")[2])
    async with browser(api).client as client:
        page = await client.get(f"/dashboard/reset/{token}")
        fields = {"token": form_token(page.text), "reset": token}
        # The form comes again, and has to carry the token.
        assert (
            await client.post("/dashboard/reset", data={**fields, "password": "short"})
        ).status_code == 422
        assert (
            await note(await client.post("/dashboard/reset", data={**fields, "password": NEW}))
        ).status_code == 303
        await note(await client.post("/dashboard/reset", data={**fields, "password": NEW}))
    return token


def files_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def everything_in(url: str, folder: Path) -> bytes:
    """The database as whoever steals it would read it."""
    if url.startswith("sqlite"):
        return files_in(folder)
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        rows: list[Any] = []
        for table in tables:
            rows += await connection.fetch(f'SELECT t::text FROM "{table[0]}" AS t')
        return "\n".join(str(row[0]) for row in rows).encode()
    finally:
        await connection.close()


@pytest.mark.parametrize("form", ["text", "json"])
async def test_planted_secrets_are_found_nowhere(
    migrated_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    """Passwords, session tokens, API keys, invitation and reset links, after they were used and misused."""
    root = logging.getLogger()
    before = (root.handlers, root.level)
    set_up_logs("debug", form)
    try:
        async with opener(migrated_url, tmp_path / "data")(host="0.0.0.0") as api:
            secrets, answers = await walk(api)
    finally:
        root.handlers, root.level = before
    logs = "".join(capfd.readouterr())
    assert len(secrets) == 8
    # A secret would stand in the database as text, or as the bytes of it in hexadecimal.
    stored = await everything_in(migrated_url, tmp_path / "data")
    for secret in secrets:
        assert secret not in logs, "in the log"
        assert secret.encode() not in stored, "in the database"
        assert secret.encode().hex().encode() not in stored, "in the database"
        for answer in answers:
            assert secret not in answer.text, f"in the answer of {answer.request.url.path}"
            assert secret not in str(answer.request.url), "in a URL"
            assert secret not in answer.headers.get("location", ""), "in a URL"


# What the operator has told the program. Each of these servers is away, so that each is complained about.
_TOLD = {
    "redis_url": "redis://laconic:planted-redis-password@127.0.0.1:1/0",
    "smtp_host": "127.0.0.1",
    "smtp_port": "1",
    "smtp_tls": "none",
    "smtp_user": "laconic",
    "smtp_password": "planted-smtp-password",
    "oidc_issuer": "http://127.0.0.1:1",
    "oidc_client_id": "laconic",
    "oidc_client_secret": "planted-oidc-secret",
    "metrics_token": "planted-metrics-token",
}
_PAGES = (
    *("/health", "/metrics", "/openapi.json", "/dashboard", "/dashboard/oidc", "/dashboard/operator"),
    *(
        "/dashboard/oidc/callback?code=wrong&state=wrong",
        "/api/admin/stats",
        "/api/admin/audit",
        "/api/v1/me",
    ),
)


def test_what_the_operator_has_told_is_found_nowhere(migrated_url: str, tmp_path: Path) -> None:
    """Passwords of PostgreSQL, Redis and the mail server, the client secret of the identity provider, the metrics token:
    not in the log at its most talkative, in answers, in what commands print, nor in the database."""
    url = migrated_url.replace("postgres@", "postgres:planted-postgres-password@")
    options: dict[str, Any] = {**_TOLD, "host": "0.0.0.0", "log_level": "debug"}
    with LaconicServer(tmp_path, url, **options) as server:
        printed = [server.run("db", "status"), server.run("codes", "stats")]
        key = server.run("key", "create", "all", "--scope", "admin", "--scope", "operator")
        with server.client(headers={"x-api-key": key}) as client:
            invited = client.post("/api/v1/invitations", json={"email": "bob@example.com"})
            assert invited.json()["mailed"] is False
            answers = [client.get(path) for path in _PAGES]
            answers.append(client.get("/metrics", headers={"authorization": "Bearer planted-metrics-toke"}))
        eventually(lambda: "is away" in server.log(), "nobody has missed Redis")
        doctor = [str(COMMAND), "doctor", "--data", str(tmp_path / "data")]
        done = subprocess.run(doctor, capture_output=True, text=True, env=server.environment(), check=False)
        printed += [done.stdout, done.stderr]
    told = [server.log(), *printed, *(answer.text + str(answer.headers) for answer in answers)]
    stored = asyncio.run(everything_in(migrated_url, tmp_path / "data"))
    assert len(stored) > 1_000
    assert not [text for text in told if "planted-" in text]
    assert b"planted-" not in stored


@pytest.mark.parametrize(
    "setting",
    [
        {"database_url": "postgresql://laconic:planted-password@127.0.0.1:port/laconic"},
        {"database_url": "mysql://laconic:planted-password@127.0.0.1/laconic"},
        {"redis_url": "redis://laconic:planted-password@127.0.0.1:port/0"},
        {"redis_url": "http://laconic:planted-password@127.0.0.1/0"},
    ],
)
def test_a_start_that_fails_does_not_say_the_password(tmp_path: Path, setting: dict[str, Any]) -> None:
    """It says which setting is wrong, and what may stand there."""
    server = LaconicServer(tmp_path, **setting)
    done = subprocess.run(
        [str(COMMAND), "serve"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**server.environment(), "LACONIC_LOG_LEVEL": "debug", "LACONIC_PORT": "0"},
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr + done.stdout
    assert "planted-" not in done.stderr + done.stdout
