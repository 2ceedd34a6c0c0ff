"""From what a caller asks for to a link that may be stored: every rule that needs no database."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from laconic import clock
from laconic.codes.rules import CustomCodeRules
from laconic.errors import CodeTaken
from laconic.ids import IdSource
from laconic.links.fields import check_status, check_texts, metadata_text
from laconic.links.model import Link, LinkDraft, expiry_of
from laconic.links.normalize import digest, normalize
from laconic.links.targets import TargetRules
from laconic.workspaces.model import Actor, WorkspaceSettings

_PLAIN = WorkspaceSettings()


@dataclass(slots=True)
class Prepared:
    """A draft that has passed every rule, with its code."""

    link: Link
    created_by: int | None
    is_custom: bool
    normalized: str | None
    # Whom the audit trail names; None: nobody to name, or a bulk create, which is told of as a whole.
    told_of: Actor | None = None
    # Whoever had taken the code ahead: its row in the pool is used up by this link.
    code_holder: str = ""

    def row(self) -> tuple[Any, ...]:
        """In the order of the store's INSERT_COLUMNS."""
        link = self.link
        normalized = self.normalized
        return (
            link.id,
            link.workspace_id,
            link.domain_id,
            link.short_code,
            link.original_url,
            link.target_url,
            normalized,
            None if normalized is None else digest(normalized, link.domain_id),
            link.title,
            link.description,
            link.metadata,
            self.created_by,
            link.created_at,
            link.updated_at,
            link.expires_at,
            link.redirect_status,
        )


class Preparer:
    """Judges drafts. `default_domain` says where a workspace's links go that name no domain."""

    def __init__(
        self,
        targets: TargetRules,
        custom_codes: CustomCodeRules,
        *,
        default_domain: Callable[[int], int],
        redirect_status: int,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._targets = targets
        self._custom_codes = custom_codes
        self._default_domain = default_domain
        self._redirect_status = redirect_status
        self.now = now
        self._ids = IdSource()

    def prepare(
        self,
        workspace_id: int,
        created_by: int | None,
        draft: LinkDraft,
        code: str,
        moment: int,
        choices: WorkspaceSettings = _PLAIN,
        code_holder: str = "",
    ) -> Prepared:
        """Raises a Refused that says what to change. `code` is the custom one, or one to use otherwise.

        `code_holder` is whoever has taken the custom code ahead: they alone may use it.
        """
        target = self._targets.check(draft.original_url)
        is_custom = draft.custom_code is not None
        if code_holder and code_holder != draft.code_holder:
            raise CodeTaken(code)
        if is_custom and not code_holder:
            self._custom_codes.check(code)
        if draft.title is not None or draft.description is not None:
            check_texts(draft.title, draft.description)
        status = draft.redirect_status
        if status is None:
            status = choices.redirect_status or self._redirect_status
        else:
            check_status(status)
        original, location = target.original_url, target.location
        link = Link(
            self._ids.take(moment),
            workspace_id,
            self._default_domain(workspace_id) if draft.domain_id is None else draft.domain_id,
            code,
            original,
            None if location == original else location,
            draft.title,
            draft.description,
            metadata_text(draft.metadata) if draft.metadata else "{}",
            moment,
            moment,
            expiry_of(draft, moment, choices.expires_in_hours),
            True,
            False,
            None,
            status,
            1,
        )
        reuse = choices.deterministic if draft.reuse is None else draft.reuse
        normalized = normalize(location) if reuse and not is_custom else None
        return Prepared(link, created_by, is_custom, normalized, code_holder=code_holder)

    def renew_id(self, prepared: Prepared) -> None:
        """After another process has made the same id first."""
        prepared.link.id = self._ids.take(prepared.link.created_at)
