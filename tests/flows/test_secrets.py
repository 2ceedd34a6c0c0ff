"""Nothing secret in logs, error bodies, URLs, or in clear in the database: secrets are planted and searched for."""

import logging
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from laconic.logs import set_up_logs
from laconic.workspaces.model import command_actor
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
    key_id = (await api.services.workspaces.list_keys(1))[0].id
    rotated, _ = await api.services.api_keys.rotate(command_actor(1), key_id, 0)
    secrets.append(rotated[15:])
    return secrets, answers


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
    """Passwords, session tokens, API keys and invitation links, after they were used and misused."""
    root = logging.getLogger()
    before = (root.handlers, root.level)
    set_up_logs("debug", form)
    try:
        async with opener(migrated_url, tmp_path / "data")(host="0.0.0.0") as api:
            secrets, answers = await walk(api)
    finally:
        root.handlers, root.level = before
    logs = "".join(capfd.readouterr())
    assert len(secrets) == 7
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
