"""What is broken, and by which tests it is met."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Target:
    name: str
    code: str
    """A file, or a folder of them."""
    tests: tuple[str, ...]
    """Those that may notice, the most direct first."""
    closest: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same for one file of the code."""

    def tests_of(self, path: str) -> tuple[str, ...]:
        return self.closest.get(path.removeprefix("src/laconic/"), self.tests)


TARGETS = (
    Target(
        "links/targets",
        "src/laconic/links/targets.py",
        ("tests/links/test_targets.py", "tests/links/test_normalize.py"),
    ),
    Target("clicks/journal", "src/laconic/clicks/journal.py", ("tests/clicks/test_journal.py",)),
    Target(
        "codes",
        "src/laconic/codes",
        ("tests/codes",),
        {
            "codes/allocator.py": ("tests/codes/test_allocator.py", "tests/codes/test_pool.py"),
            "codes/alphabet.py": ("tests/codes/test_alphabet.py",),
            "codes/cursor.py": ("tests/codes/test_recovery.py", "tests/codes/test_allocator.py"),
            "codes/high_water.py": ("tests/codes/test_high_water.py", "tests/codes/test_recovery.py"),
            "codes/maker.py": ("tests/codes/test_regions.py", "tests/codes/test_unwanted.py"),
            "codes/many.py": ("tests/codes/test_unwanted.py", "tests/codes/test_regions.py"),
            "codes/permutation.py": ("tests/codes/test_permutation.py",),
            "codes/pool.py": (
                "tests/codes/test_watch.py",
                "tests/codes/test_pool.py",
                "tests/codes/test_recovery.py",
                "tests/codes/test_shared_pool.py",
            ),
            "codes/rules.py": ("tests/codes/test_rules.py",),
            "codes/shared_pool.py": ("tests/codes/test_shared_pool.py",),
            "codes/sources.py": (
                "tests/codes/test_pool.py",
                "tests/codes/test_allocator.py",
                "tests/codes/test_shared_pool.py",
            ),
            "codes/store.py": (
                "tests/codes/test_recovery.py",
                "tests/codes/test_regions.py",
                "tests/codes/test_pool.py",
            ),
            "codes/unwanted.py": ("tests/codes/test_unwanted.py",),
            "codes/verify.py": ("tests/codes/test_verify.py",),
            "codes/watch.py": ("tests/codes/test_watch.py",),
            "codes/ahead/allocations.py": ("tests/web/api/test_kgs.py",),
            "codes/ahead/store.py": ("tests/web/api/test_kgs.py",),
        },
    ),
    Target(
        "redirect",
        "src/laconic/redirect",
        ("tests/redirect",),
        {
            "redirect/blocked.py": ("tests/redirect/test_blocked.py",),
            "redirect/cache.py": (
                "tests/redirect/test_cache.py",
                "tests/redirect/test_cache_bounds.py",
                "tests/redirect/test_shared.py",
            ),
            "redirect/endpoint.py": ("tests/redirect/test_endpoint.py",),
            "redirect/forwarded.py": ("tests/redirect/test_forwarded.py",),
            "redirect/hosts.py": ("tests/redirect/test_hosts.py",),
            "redirect/lookup.py": ("tests/redirect/test_lookup.py", "tests/redirect/test_endpoint.py"),
            "redirect/model.py": ("tests/redirect/test_model.py", "tests/redirect/test_cache.py"),
            "redirect/recent.py": ("tests/redirect/test_recent.py",),
            "redirect/shared.py": ("tests/redirect/test_shared.py", "tests/redirect/test_shared_writes.py"),
            "redirect/spread.py": ("tests/redirect/test_spread.py",),
            "redirect/lane/batch.py": (
                "tests/redirect/test_batch.py",
                "tests/redirect/test_lane.py",
                "tests/redirect/test_lane_waits.py",
            ),
            "redirect/lane/connection.py": (
                "tests/redirect/test_lane_refusals.py",
                "tests/redirect/test_lane.py",
                "tests/redirect/test_lane_hands_on.py",
                "tests/redirect/test_lane_flow.py",
                "tests/redirect/test_lane_unread.py",
                "tests/redirect/test_lane_waits.py",
            ),
            "redirect/lane/hits.py": (
                "tests/redirect/test_lane.py",
                "tests/redirect/test_lane_hands_on.py",
                "tests/redirect/test_lane_misses.py",
                "tests/redirect/test_lane_waits.py",
                "tests/redirect/test_known_heads.py",
                "tests/redirect/test_lane_refusals.py",
            ),
            "redirect/lane/known.py": ("tests/redirect/test_known_heads.py",),
            "redirect/lane/refusals.py": ("tests/redirect/test_lane_refusals.py",),
            "redirect/lane/unsent.py": ("tests/redirect/test_lane_unread.py",),
        },
    ),
)
