"""Requests with an Idempotency-Key: the first time they are carried out, every time after they are answered the same."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from laconic.links.model import Created, LinkDraft
from laconic.links.once import Answer, Answered
from laconic.storage.database import Statements, Transact, plainly
from laconic.web.api.answers import API_HEADERS
from laconic.wiring import Services
from laconic.workspaces.model import Actor

T = TypeVar("T")


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


async def act_once(
    services: Services,
    actor: Actor,
    request: Request,
    body: bytes,
    act: Callable[[Transact], Awaitable[T]],
    shown: Callable[[T], dict[str, Any]],
) -> T | Response:
    """What `act` gives back; or the answer of the first time, where the request has an Idempotency-Key that came before.

    `shown` makes the answer that is kept for that. A secret is shown once, so it has null in its place.
    """
    key = request.headers.get("idempotency-key")
    if key is None:
        return await act(plainly)
    asked = f"{request.method} {request.url.path}\n".encode() + body
    earlier = await services.once.earlier(actor.workspace_id, key, asked)
    if earlier is not None:
        return answer_response(earlier)
    around = services.once.around(
        actor.workspace_id, key, asked, 201, lambda made: json.dumps(shown(made), ensure_ascii=False)
    )
    try:
        return await act(around)
    except Answered as again:
        return answer_response(again.answer)


def answer_response(answer: Answer, headers: dict[str, str] | None = None) -> Response:
    """What a request with an Idempotency-Key gets, the first time and every time after."""
    told = {**API_HEADERS, **(headers or {})}
    if answer.replayed:
        told["idempotency-replayed"] = "true"
    if answer.status == 204:
        return Response(status_code=204, headers=told)
    return Response(answer.body.encode(), answer.status, told, media_type="application/json")
