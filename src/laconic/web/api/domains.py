"""/api/v1/domains: add, list, get, prove, change, give up."""

from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from laconic.clock import to_rfc3339
from laconic.errors import ScopeMissing
from laconic.settings import Rate
from laconic.storage.database import Transact
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import read_asked, read_model
from laconic.web.api.once import act_once
from laconic.web.api.openapi import body_of, problems
from laconic.wiring import Services
from laconic.workspaces.domains.model import DNS_LABEL, HTTP_PATH, Domain, DomainDraft, DomainEdit
from laconic.workspaces.model import ADMIN, LINKS_READ, OPERATOR

# Proofs make this server ask others: so many for each workspace.
PROOFS = Rate(per_second=0.2, burst=5)


class DomainRequest(BaseModel):
    """A host to serve links on. `trusted` is the operator's word that it is the workspace's own."""

    model_config = ConfigDict(extra="forbid")

    host: str
    root_target: str | None = None
    not_found_target: str | None = None
    trusted: bool = False


class ProofRequest(BaseModel):
    """Where to look for the proof; `trusted` needs none, and the scope operator."""

    model_config = ConfigDict(extra="forbid")

    method: Literal["dns", "http", "any", "trusted"] = "any"


class DomainEditRequest(BaseModel):
    """New values; what is not named stays as it is, null takes a target away."""

    model_config = ConfigDict(extra="forbid")

    is_default: bool | None = None
    root_target: str | None = None
    not_found_target: str | None = None


class DnsProof(BaseModel):
    name: str
    type: Literal["TXT"]
    value: str


class HttpProof(BaseModel):
    url: str
    body: str


class Proof(BaseModel):
    """One of the two is enough."""

    dns: DnsProof
    http: HttpProof


class ShownDomain(BaseModel):
    """A domain as its workspace sees it. `proof` says how to prove it; null once it is proved. `lapsed_at`: since when the
    proof is missing, which is looked for from time to time; the domain is served all the same."""

    id: str
    host: str
    is_default: bool
    is_shared: bool
    is_subdomain: bool
    verified_at: str | None
    lapsed_at: str | None
    root_target: str | None
    not_found_target: str | None
    created_at: str
    proof: Proof | None


class DomainList(BaseModel):
    """All domains that the workspace may use, the shared one too."""

    items: list[ShownDomain]


def domain_json(domain: Domain, default_id: int) -> dict[str, Any]:
    return {
        "id": str(domain.id),
        "host": domain.host,
        "is_default": domain.id == default_id,
        "is_shared": domain.is_shared,
        "is_subdomain": domain.is_subdomain,
        "verified_at": None if domain.verified_at is None else to_rfc3339(domain.verified_at),
        "lapsed_at": None if domain.lapsed_at is None else to_rfc3339(domain.lapsed_at),
        "root_target": domain.root_target,
        "not_found_target": domain.not_found_target,
        "created_at": to_rfc3339(domain.created_at),
        "proof": None if domain.is_served and domain.lapsed_at is None else _proof_json(domain),
    }


def _proof_json(domain: Domain) -> dict[str, Any]:
    text = domain.proof_text
    return {
        "dns": {"name": f"{DNS_LABEL}.{domain.host}", "type": "TXT", "value": text},
        "http": {"url": f"http://{domain.host}{HTTP_PATH}", "body": text},
    }


class DomainRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._domains = services.domains
        self._directory = services.directory
        self._gate = gate
        self._proofs = gate.new_limits("proof", PROOFS)

    async def add(self, request: Request) -> Response:
        """Adds a domain. It serves nothing until it is proved."""
        actor = await self._gate.admit(request, ADMIN)
        asked, body = await read_asked(request, DomainRequest)
        if asked.trusted and not actor.may(OPERATOR):
            raise ScopeMissing(OPERATOR)
        draft = DomainDraft(asked.host, asked.root_target, asked.not_found_target)

        async def act(transact: Transact) -> Domain:
            return await self._domains.add(actor, draft, is_trusted=asked.trusted, transact=transact)

        def shown(domain: Domain) -> dict[str, Any]:
            return domain_json(domain, self._directory.default_of(actor.workspace_id))

        domain = await act_once(self._services, actor, request, body, act, shown)
        return domain if isinstance(domain, Response) else json_response(shown(domain), 201)

    async def page(self, request: Request) -> Response:
        """The workspace's domains and the shared one, oldest first."""
        actor = await self._gate.admit(request, LINKS_READ)
        default_id = self._directory.default_of(actor.workspace_id)
        domains = await self._domains.list_all(actor.workspace_id)
        return json_response({"items": [domain_json(domain, default_id) for domain in domains]})

    async def get(self, request: Request, host: str) -> Response:
        """One domain, with what to publish as proof while it is not proved."""
        actor = await self._gate.admit(request, LINKS_READ)
        return self._shown(actor.workspace_id, await self._domains.get(actor.workspace_id, host))

    async def verify(self, request: Request, host: str) -> Response:
        """Looks for the proof now: in DNS, then on the host itself. 409 says what was found instead."""
        actor = await self._gate.admit(request, ADMIN)
        method = (await read_model(request, ProofRequest)).method
        if method == "trusted":
            if not actor.may(OPERATOR):
                raise ScopeMissing(OPERATOR)
            domain = await self._domains.trust(actor, host)
        else:
            await self._domains.get(actor.workspace_id, host)  # what is unknown costs no look
            await self._gate.limit(request, self._proofs, str(actor.workspace_id))
            domain = await self._domains.verify(actor, host, method)
        return self._shown(actor.workspace_id, domain)

    async def edit(self, request: Request, host: str) -> Response:
        """Changes what is named in the body; every worker follows within a second."""
        actor = await self._gate.admit(request, ADMIN)
        asked = await read_model(request, DomainEditRequest)
        edit = DomainEdit(
            frozenset(asked.model_fields_set), asked.is_default, asked.root_target, asked.not_found_target
        )
        return self._shown(actor.workspace_id, await self._domains.change(actor, host, edit))

    async def delete(self, request: Request, host: str) -> Response:
        """Gives a domain up. Refused while links live on it."""
        actor = await self._gate.admit(request, ADMIN)
        await self._domains.remove(actor, host)
        return Response(status_code=204, headers=API_HEADERS)

    def _shown(self, workspace_id: int, domain: Domain, status: int = 200) -> Response:
        return json_response(domain_json(domain, self._directory.default_of(workspace_id)), status)

    def router(self) -> APIRouter:
        router = APIRouter(tags=["domains"])
        every, one = "/api/v1/domains", "/api/v1/domains/{host}"
        shown: dict[int | str, dict[str, Any]] = {200: {"model": ShownDomain}}
        router.add_api_route(
            every,
            self.add,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": ShownDomain}, **problems(400, 401, 403, 409, 413, 415, 422)},
            openapi_extra=body_of(DomainRequest),
        )
        router.add_api_route(
            every, self.page, methods=["GET"], responses={200: {"model": DomainList}, **problems(401, 403)}
        )
        router.add_api_route(one, self.get, methods=["GET"], responses={**shown, **problems(401, 403, 404)})
        router.add_api_route(
            one,
            self.edit,
            methods=["PATCH"],
            responses={**shown, **problems(400, 401, 403, 404, 413, 415, 422)},
            openapi_extra=body_of(DomainEditRequest),
        )
        router.add_api_route(
            one,
            self.delete,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404, 409),
        )
        router.add_api_route(
            one + "/verify",
            self.verify,
            methods=["POST"],
            responses={**shown, **problems(400, 401, 403, 404, 409, 413, 415, 422)},
            openapi_extra=body_of(ProofRequest),
        )
        return router
