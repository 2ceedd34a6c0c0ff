"""What the numbers of an installation mean, in words for somebody who was woken up by them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from laconic.clicks.board import IngestNumbers
from laconic.clock import HOUR, MINUTE, SECOND
from laconic.upkeep.reaper import Stats

Mood = Literal["good", "warn", "bad"]
Fact = tuple[str, str]
_MOODS: tuple[Mood, ...] = ("good", "warn", "bad")

# As the alert has it.
_LATE_SECONDS = 60
_RECENT = HOUR


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice` is what to do about it; empty when there is nothing to do."""

    name: str
    mood: Mood
    words: str
    advice: str = ""
    facts: list[Fact] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Breakers:
    """What is known of one server that may be away."""

    name: str
    state: str
    opened: int
    refused: int


def worst(checks: Iterable[Check]) -> Mood:
    return max((check.mood for check in checks), key=_MOODS.index, default="good")


def headline(mood: Mood) -> str:
    return {
        "good": "All is well.",
        "warn": "Links work. Something needs a look.",
        "bad": "Something is broken.",
    }[mood]


def check_database(state: dict[str, Any], sizes: dict[str, int], breakers: list[Breakers]) -> Check:
    facts = [(f"On disk: {name}", bytes_text(size)) for name, size in sizes.items()]
    facts += _breaker_facts(breakers)
    if state["database"] != "connected":
        return Check(
            "Database",
            "bad",
            f"It does not answer: {state.get('error', 'no reason is known')}",
            "Links that were followed lately go on from memory for a while; nothing new can be made. Look at the database"
            " server and at LACONIC_DATABASE_URL.",
            facts,
        )
    if any(one.state != "closed" for one in breakers):
        return Check(
            "Database",
            "warn",
            "It answers again after a time away; its breaker is not closed yet.",
            "Wait a few seconds and look again.",
            facts,
        )
    return Check("Database", "good", "It answers.", facts=facts)


def check_redis(state: str, breakers: list[Breakers]) -> Check:
    if state == "off":
        return Check("Redis", "good", "It is not used. One machine needs none.")
    facts = _breaker_facts(breakers)
    if state == "connected":
        return Check("Redis", "good", "It answers.", facts=facts)
    return Check(
        "Redis",
        "warn",
        "It does not answer. Nothing is lost: the database has all that it had, only slower.",
        "Look at the Redis server and at LACONIC_REDIS_URL.",
        facts,
    )


def check_pool(report: dict[str, Any], *, is_critical: bool) -> Check:
    """`report` is what /api/v1/kgs/stats answers; `is_critical` is false while it is filled for the first time."""
    size, thresholds = report["pool_size"], report["thresholds"]
    left = report["minutes_to_exhaustion"]
    facts = [
        ("Codes ready", f"{size:,} of {thresholds['minimum']:,}"),
        ("Taken", f"{report['rates']['allocated_per_second']:,} a second"),
        ("Made", f"{report['rates']['generated_per_second']:,} a second"),
    ]
    if left is not None:
        facts.append(("Empty, if nobody filled it, in", minutes_text(left)))
    if report["status"] == "off":
        return Check(
            "Code pool", "good", "No pool is kept: codes are made when they are needed.", facts=facts
        )
    if report["status"] == "ok":
        return Check("Code pool", "good", "There are enough codes made ahead.", facts=facts)
    advice = "The background process fills it. Is it running (laconic serve, or --role background)? Look at its log."
    if report["status"] == "low":
        return Check("Code pool", "warn", "It is less than half full.", advice, facts)
    if not is_critical:
        return Check("Code pool", "warn", "It is being filled for the first time.", advice, facts)
    return Check(
        "Code pool",
        "bad",
        "It is nearly empty. Links can still be made, slower: codes are made on the fly.",
        advice,
        facts,
    )


def check_clicks(
    numbers: IngestNumbers, lag_seconds: float, missed: int, last_missed_at: int, moment: int
) -> Check:
    facts = [
        ("Behind", seconds_text(lag_seconds)),
        ("Counted since the start", f"{numbers.applied:,}"),
        ("Journals on disk", bytes_text(numbers.journal_bytes)),
        ("Missed because the disk could not be written", f"{missed:,}"),
    ]
    for name, number in (
        ("Of links that the database does not know", numbers.unknown_links),
        ("With a time ahead of the clock", numbers.clamped),
        ("Damaged bytes passed over", numbers.skipped_bytes),
        ("Files of another release, left alone", numbers.foreign_segments),
    ):
        if number:
            facts.append((name, f"{number:,}"))
    if last_missed_at and moment - last_missed_at < _RECENT:
        return Check(
            "Clicks",
            "bad",
            "Redirects go on, but within the last hour some of their clicks could not be written down.",
            "The disk is full or fails. Make room on the disk of LACONIC_DATA.",
            facts,
        )
    if lag_seconds > _LATE_SECONDS:
        return Check(
            "Clicks",
            "warn",
            f"Charts are {seconds_text(lag_seconds)} behind. No click is lost: they wait on disk.",
            "Is the ingest process running? Look at its log, and whether the database is slow.",
            facts,
        )
    return Check("Clicks", "good", "They are counted as they come.", facts=facts)


def check_cleanup(stats: Stats, moment: int, interval: int, *, is_enabled: bool) -> Check:
    facts = [
        ("Expired links retired so far", f"{stats.total_cleaned:,}"),
        ("Runs that went well", f"{stats.successful_runs:,}"),
        ("Runs that failed", f"{stats.failed_runs:,}"),
        ("A run takes", f"{stats.average_cleanup_ms:,} ms"),
    ]
    if not is_enabled:
        words = "It is switched off. Expired links do not redirect all the same; lists only get longer."
        return Check(
            "Clean-up", "warn", words, "Take LACONIC_CLEANUP_ENABLED=false back when you can.", facts
        )
    if stats.is_running:
        return Check("Clean-up", "good", "It is running now.", facts=facts)
    last = stats.last_cleanup_time
    if last is None:
        return Check("Clean-up", "good", "It has not run yet.", facts=facts)
    ago = f"It ran {seconds_text((moment - last) / SECOND)} ago."
    if moment - last > 4 * interval + 10 * MINUTE:
        advice = "Is the background process running (laconic serve, or --role background)? Look at its log."
        return Check("Clean-up", "warn", ago, advice, facts)
    return Check("Clean-up", "good", ago, facts=facts)


def _breaker_facts(breakers: list[Breakers]) -> list[Fact]:
    words = {
        "closed": "closed: calls pass",
        "open": "open: calls are refused at once until it answers again",
        "half-open": "half-open: one call finds out whether it is back",
    }
    return [
        (
            f"Breaker of {one.name}",
            f"{words.get(one.state, one.state)}; opened {one.opened:,} times, {one.refused:,} calls refused",
        )
        for one in breakers
    ]


def bytes_text(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} bytes"


def seconds_text(seconds: float) -> str:
    """About how long: 12 s, 5 min, 3 h, 2 days."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length):,} {unit}"
    return f"{seconds:.0f} s"


def minutes_text(minutes: float) -> str:
    return seconds_text(minutes * 60)
