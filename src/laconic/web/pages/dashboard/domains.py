"""/dashboard/domains: hosts for short links, and how to prove that one is yours, step by step."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.errors import LaconicError, ScopeMissing
from laconic.web.api.domains import PROOFS
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash
from laconic.web.pages.forms import Form
from laconic.workspaces.domains.change import Method
from laconic.workspaces.domains.model import DNS_LABEL, HTTP_PATH, Domain, DomainDraft, DomainEdit
from laconic.workspaces.model import ADMIN, LINKS_READ, OPERATOR

_DOMAINS = "/dashboard/domains"
_METHODS: Final[dict[str, Method]] = {"dns": "dns", "http": "http"}
_TARGETS = frozenset({"root_target", "not_found_target"})


class DomainPageRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._domains = shell.services.domains
        self._directory = shell.services.directory
        self._proofs = shell.gate.new_limits("proof", PROOFS)

    async def show(self, request: Request) -> Response:
        return await self._list(await self._shell.enter(request, LINKS_READ))

    async def add(self, request: Request) -> Response:
        visitor, form = await self._shell.receive(request, ADMIN)
        is_trusted = self._vouches(visitor, form)
        try:
            draft = DomainDraft(form.get("host").strip())
            domain = await self._domains.add(visitor.actor, draft, is_trusted=is_trusted)
        except CORRECTABLE as error:
            return await self._list(visitor, Mistake.from_error("add", error, form))
        if domain.is_served:
            return await self._go(domain, f"{domain.host} is ready for links.")
        return await self._go(domain, f"{domain.host} was added. It serves links once it is proved.")

    async def show_one(self, request: Request, host: str) -> Response:
        visitor = await self._shell.enter(request, LINKS_READ)
        return await self._one(visitor, await self._domains.get(visitor.workspace_id, host))

    async def verify(self, request: Request, host: str) -> Response:
        """Looks for the proof now, and says what was found instead."""
        visitor, form = await self._shell.receive(request, ADMIN)
        domain = await self._domains.get(visitor.workspace_id, host)  # what is unknown costs no look
        try:
            if self._vouches(visitor, form):
                domain = await self._domains.trust(visitor.actor, domain.host)
            else:
                await self._proofs.check(str(visitor.workspace_id))
                method = _METHODS.get(form.get("method"), "any")
                domain = await self._domains.verify(visitor.actor, domain.host, method)
        except CORRECTABLE as error:
            return await self._refuse(visitor, domain, "verify", error, form)
        return await self._go(domain, f"{domain.host} is proved and serves links from now on.")

    async def change(self, request: Request, host: str) -> Response:
        """Where visitors go who name no link, or one that is not there."""
        visitor, form = await self._shell.receive(request, ADMIN)
        domain = await self._domains.get(visitor.workspace_id, host)
        try:
            targets = [form.get(name).strip() or None for name in ("root_target", "not_found_target")]
            edit = DomainEdit(_TARGETS, None, *targets)
            domain = await self._domains.change(visitor.actor, domain.host, edit)
        except CORRECTABLE as error:
            return await self._refuse(visitor, domain, "change", error, form)
        return await self._go(domain, "Saved. Every worker follows within a second.")

    async def set_default(self, request: Request, host: str) -> Response:
        visitor, form = await self._shell.receive(request, ADMIN)
        domain = await self._domains.get(visitor.workspace_id, host)
        is_default = form.get("is_default") == "yes"
        try:
            edit = DomainEdit(frozenset({"is_default"}), is_default)
            domain = await self._domains.change(visitor.actor, domain.host, edit)
        except CORRECTABLE as error:
            return await self._refuse(visitor, domain, "default", error, form)
        where = domain.host if is_default else "the shared domain"
        return await self._go(domain, f"New links go to {where} from now on.")

    async def remove(self, request: Request, host: str) -> Response:
        visitor, form = await self._shell.receive(request, ADMIN)
        domain = await self._domains.get(visitor.workspace_id, host)
        try:
            await self._domains.remove(visitor.actor, domain.host)
        except CORRECTABLE as error:
            return await self._refuse(visitor, domain, "remove", error, form)
        return await self._shell.go(_DOMAINS, Flash(f"{domain.host} was given up."))

    def _vouches(self, visitor: Visitor, form: Form) -> bool:
        if form.get("trusted") and not visitor.may(OPERATOR):
            raise ScopeMissing(OPERATOR)
        return bool(form.get("trusted"))

    async def _go(self, domain: Domain, text: str) -> Response:
        return await self._shell.go(f"{_DOMAINS}/{domain.host}", Flash(text))

    async def _refuse(
        self, visitor: Visitor, domain: Domain, place: str, error: LaconicError, form: Form
    ) -> Response:
        return await self._one(visitor, domain, Mistake.from_error(place, error, form))

    async def _list(self, visitor: Visitor, mistake: Mistake | None = None) -> Response:
        return await self._shell.page(
            visitor,
            "dashboard/domains.html",
            "domains",
            200 if mistake is None else mistake.status,
            domains=await self._domains.list_all(visitor.workspace_id),
            default_id=self._directory.default_of(visitor.workspace_id),
            mistake=mistake,
        )

    async def _one(self, visitor: Visitor, domain: Domain, mistake: Mistake | None = None) -> Response:
        return await self._shell.page(
            visitor,
            "dashboard/domain.html",
            "domains",
            200 if mistake is None else mistake.status,
            domain=domain,
            is_default=domain.id == self._directory.default_of(visitor.workspace_id),
            record_name=f"{DNS_LABEL}.{domain.host}",
            file_url=f"http://{domain.host}{HTTP_PATH}",
            mistake=mistake,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        one = _DOMAINS + "/{host}"
        router.add_api_route(_DOMAINS, self.show, methods=["GET", "HEAD"])
        router.add_api_route(_DOMAINS, self.add, methods=["POST"])
        router.add_api_route(one, self.show_one, methods=["GET", "HEAD"])
        router.add_api_route(one, self.change, methods=["POST"])
        router.add_api_route(one + "/verify", self.verify, methods=["POST"])
        router.add_api_route(one + "/default", self.set_default, methods=["POST"])
        router.add_api_route(one + "/remove", self.remove, methods=["POST"])
        return router
