"""Whether the pool is what it should be: every code in it made by this installation, wanted, counted and free."""

from dataclasses import dataclass, field

from laconic.codes.alphabet import ALPHABET, decode
from laconic.codes.maker import CodeMaker
from laconic.codes.store import CodeStore
from laconic.codes.unwanted import is_wanted

_PAGE = 5_000


@dataclass(slots=True)
class Findings:
    checked: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, count: int, what: str) -> None:
        if count:
            self.problems.append(f"{count} codes in the pool {what}")


async def verify_pool(store: CodeStore, maker: CodeMaker) -> Findings:
    """Reads the whole pool of a region, a page at a time; changes nothing."""
    findings = Findings()
    strange = unwanted = 0
    highest = -1
    after = ""
    while page := await store.unused_page(maker.region, after, _PAGE):
        after = page[-1]
        findings.checked += len(page)
        for code in page:
            if not _is_ours(maker, code):
                strange += 1
            else:
                highest = max(highest, maker.permutation.invert(decode(code[len(maker.prefix) :])))
            unwanted += not is_wanted(code)
    findings.add(strange, "have another length or first character than this region's")
    findings.add(unwanted, "are words or look-alikes that the filter leaves out")
    findings.add(await store.unused_in_use(maker.region), "are in use by links")
    # After the reading: a server may fill the pool and take from it meanwhile.
    if highest >= (await store.state(maker.region, maker.length)).next:
        findings.problems.append("the cursor has not come to a code in the pool: was the database put back?")
    counted, there = await store.unused_counts(maker.region, maker.length)
    if counted != there:
        findings.problems.append(f"{counted} unused codes are counted, {there} are there")
    return findings


def _is_ours(maker: CodeMaker, code: str) -> bool:
    return len(code) == maker.length and code.startswith(maker.prefix) and set(code) <= set(ALPHABET)
