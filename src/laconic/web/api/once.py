"""Requests with an Idempotency-Key: the first time they are carried out, every time after they are answered the same."""

import json
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from laconic.links.model import Created, LinkDraft
from laconic.links.once import Answer
from laconic.storage.database import Statements
from laconic.web.api.problems import SECURITY_HEADERS
from laconic.wiring import Services
from laconic.workspaces.model import Actor

_HEADERS = {**SECURITY_HEADERS, "cache-control": "no-store"}


async def create_once(
    services: Services,
    actor: Actor,
    draft: LinkDraft,
    key: str,
    request: bytes,
    show: Callable[[Created, Callable[[int, str], str]], dict[str, Any]],
) -> Answer:
    """A create with an Idempotency-Key."""
    creator = services.creator
    earlier = await services.once.earlier(actor.workspace_id, key, request)
    if earlier is not None:
        return earlier
    ready = await creator.make_ready(actor.workspace_id, actor.user_id, draft, actor)

    async def work(statements: Statements) -> Answer:
        created = await creator.create_in(statements, ready, actor.workspace_id)
        text = json.dumps(show(created, services.directory.short_url), ensure_ascii=False)
        return Answer(200 if created.existing else 201, text)

    answer = await services.once.run(actor.workspace_id, key, request, work)
    if not answer.replayed:
        await creator.committed(ready)
    return answer


def answer_response(answer: Answer, headers: dict[str, str] | None = None) -> Response:
    """What a request with an Idempotency-Key gets, the first time and every time after."""
    told = {**_HEADERS, **(headers or {})}
    if answer.replayed:
        told["idempotency-replayed"] = "true"
    if answer.status == 204:
        return Response(status_code=204, headers=told)
    return Response(answer.body.encode(), answer.status, told, media_type="application/json")
