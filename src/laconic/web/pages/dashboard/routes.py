"""Every page of the dashboard, one line each."""

from collections.abc import Sequence
from typing import Protocol

from fastapi import APIRouter

from laconic.web.api.authentication import Gate
from laconic.web.pages.dashboard.account import AccountRoutes
from laconic.web.pages.dashboard.audit import AuditPageRoutes
from laconic.web.pages.dashboard.domains import DomainPageRoutes
from laconic.web.pages.dashboard.keys import ApiKeyRoutes
from laconic.web.pages.dashboard.link_checks import LinkCheckRoutes
from laconic.web.pages.dashboard.link_form import LinkFormRoutes
from laconic.web.pages.dashboard.link_page import LinkPageRoutes
from laconic.web.pages.dashboard.link_qr import LinkQrRoutes
from laconic.web.pages.dashboard.links import LinkListRoutes
from laconic.web.pages.dashboard.members import MemberRoutes
from laconic.web.pages.dashboard.operator.oversight import OversightPageRoutes
from laconic.web.pages.dashboard.operator.tenants import TenantRoutes
from laconic.web.pages.dashboard.overview import OverviewRoutes
from laconic.web.pages.dashboard.settings import SettingsRoutes
from laconic.web.pages.dashboard.shell import Shell
from laconic.web.pages.form_tokens import FormTokens
from laconic.wiring import Services


class Routes(Protocol):
    def router(self) -> APIRouter: ...


def dashboard_routes(services: Services, gate: Gate, tokens: FormTokens) -> Sequence[Routes]:
    shell = Shell(services, gate, tokens)
    return [
        OverviewRoutes(shell),
        LinkListRoutes(shell),
        LinkFormRoutes(shell),
        LinkCheckRoutes(shell),
        LinkQrRoutes(shell),
        LinkPageRoutes(shell),
        AccountRoutes(shell),
        MemberRoutes(shell),
        ApiKeyRoutes(shell),
        DomainPageRoutes(shell),
        SettingsRoutes(shell),
        AuditPageRoutes(shell),
        OversightPageRoutes(shell),
        TenantRoutes(shell),
    ]
