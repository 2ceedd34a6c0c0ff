"""/api/v1/kgs: codes that programs take ahead, and how full the pools are."""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from laconic.web.api.answers import json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import model_from_json, read_body, require_json
from laconic.web.api.openapi import body_of, problems
from laconic.wiring import Services
from laconic.workspaces.model import KEYS_ALLOCATE

_MOST_CODES = 10_000
_LONGEST_CODE = 64
# Room for that many of the longest, each with its quotes, a comma and a space.
_LARGEST_RETURN = _MOST_CODES * (_LONGEST_CODE + 4) + 1024


class CountRequest(BaseModel):
    """How many codes to take ahead."""

    model_config = ConfigDict(extra="forbid")

    count: Annotated[int, Field(ge=1, le=_MOST_CODES)]


class ReturnRequest(BaseModel):
    """Codes that were taken ahead and are not needed."""

    model_config = ConfigDict(extra="forbid")

    short_codes: Annotated[
        list[Annotated[str, Field(max_length=_LONGEST_CODE)]], Field(min_length=1, max_length=_MOST_CODES)
    ]


class AllocatedCode(BaseModel):
    short_code: str


class AllocatedCodes(BaseModel):
    short_codes: list[str]


class Returned(BaseModel):
    """`returned` counts those that were the caller's and unused; the others are left as they are."""

    returned: int


class KgsRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate

    async def key(self, request: Request) -> Response:
        """One code, for a later create with `custom_code`. Nobody else can use it."""
        actor = await self._gate.admit(request, KEYS_ALLOCATE)
        codes = await self._services.allocations.allocate(actor.code_holder, 1)
        return json_response({"short_code": codes[0]})

    async def bulk(self, request: Request) -> Response:
        """Many codes at once."""
        actor = await self._gate.admit(request, KEYS_ALLOCATE)
        require_json(request)
        asked = model_from_json(CountRequest, await read_body(request))
        codes = await self._services.allocations.allocate(actor.code_holder, asked.count)
        return json_response({"short_codes": codes})

    async def give_back(self, request: Request) -> Response:
        """Codes that will not be used go back to the pool."""
        actor = await self._gate.admit(request, KEYS_ALLOCATE)
        require_json(request)
        asked = model_from_json(ReturnRequest, await read_body(request, _LARGEST_RETURN))
        returned = await self._services.allocations.give_back(actor.code_holder, asked.short_codes)
        return json_response({"returned": returned})

    async def stats(self, request: Request) -> Response:
        """Pool sizes by tier and region, rates, minutes to exhaustion, thresholds."""
        await self._gate.admit(request, KEYS_ALLOCATE)
        return json_response(await self._services.pool.report())

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1/kgs", tags=["codes"])
        router.add_api_route(
            "/key", self.key, methods=["GET"], responses={200: {"model": AllocatedCode}, **problems(401, 403)}
        )
        router.add_api_route(
            "/keys/bulk",
            self.bulk,
            methods=["POST"],
            responses={200: {"model": AllocatedCodes}, **problems(400, 401, 403, 415, 422)},
            openapi_extra=body_of(CountRequest),
        )
        router.add_api_route(
            "/keys/return",
            self.give_back,
            methods=["POST"],
            responses={200: {"model": Returned}, **problems(400, 401, 403, 415, 422)},
            openapi_extra=body_of(ReturnRequest),
        )
        router.add_api_route("/stats", self.stats, methods=["GET"], responses=problems(401, 403))
        return router
