"""What the database has in the end, against what was answered."""

from collections import Counter
from dataclasses import dataclass

from bench.scale.ledger import Ledger
from bench.scale.postgres_pair import ask


@dataclass(frozen=True, slots=True)
class Verdict:
    created: int
    lost_creates: list[str]
    codes_given_twice: int
    edits: int
    lost_edits: list[str]
    followed: int
    counted: int
    clicks_lost: int
    # More than was answered, cut off and asked of a second node together.
    clicks_too_many: int
    strange: list[str]

    @property
    def is_good(self) -> bool:
        return not (
            self.lost_creates
            or self.codes_given_twice
            or self.lost_edits
            or self.clicks_lost
            or self.clicks_too_many
            or self.strange
        )

    def lines(self) -> list[str]:
        return [
            f"creates: {self.created:,} answered, {len(self.lost_creates)} lost, {self.codes_given_twice} codes given twice",
            f"edits: {self.edits:,} answered, {len(self.lost_edits)} lost",
            f"clicks: {self.followed:,} redirects answered, {self.counted:,} counted",
            f"clicks lost: {self.clicks_lost}, counted twice: {self.clicks_too_many}",
            f"wrong targets: {len(self.strange)}",
            *self.lost_creates[:5],
            *self.lost_edits[:5],
            *self.strange[:5],
        ]


def judge(ledger: Ledger, repeated: Counter[str], url: str) -> Verdict:
    """`repeated`: by path, what the proxy asked of a second node. For a deployment that has stopped."""
    stored = {row[0]: row[1] for row in ask(url, "SELECT short_code, original_url FROM short_link")}
    counted = Counter(
        {
            row[0]: int(row[1])
            for row in ask(
                url,
                "SELECT short_code, clicks FROM link_total JOIN short_link ON short_link.id = link_total.link_id",
            )
        }
    )
    codes = Counter(code for code, _ in ledger.created)
    may_count = Counter(ledger.followed)
    may_count.update(ledger.cut_off)
    may_count.update({path.removeprefix("/"): count for path, count in repeated.items()})
    return Verdict(
        created=len(ledger.created),
        lost_creates=[f"{code} {made}" for code, made in ledger.created if stored.get(code) != made],
        codes_given_twice=sum(1 for count in codes.values() if count > 1),
        edits=sum(edit.is_answered for edits in ledger.edits.values() for edit in edits),
        lost_edits=_lost_edits(ledger, stored),
        followed=ledger.followed.total(),
        counted=sum(counted[code] for code in ledger.followed),
        clicks_lost=sum(max(0, count - counted[code]) for code, count in ledger.followed.items()),
        clicks_too_many=sum(max(0, count - may_count[code]) for code, count in counted.items()),
        strange=ledger.strange,
    )


def _lost_edits(ledger: Ledger, stored: dict[str, str]) -> list[str]:
    """One editor, one edit after the other: the last that was answered holds, or a later one whose fate is unknown."""
    lost = []
    for code, edits in ledger.edits.items():
        answered = [index for index, edit in enumerate(edits) if edit.is_answered]
        if answered and stored[code] not in {edit.url for edit in edits[answered[-1] :]}:
            lost.append(f"{code} leads to {stored[code]} and not to {edits[answered[-1]].url}")
    return lost
