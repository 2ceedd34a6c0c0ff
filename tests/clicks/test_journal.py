"""The journal: what was written is there, whatever the disk does, and whoever reads knows who still writes."""

import fcntl
import os
import resource
from pathlib import Path

import pytest

from laconic.clicks.click import Visitor
from laconic.clicks.journal import (
    SEGMENT_BYTES,
    SEGMENT_HEAD,
    SEGMENT_MAGIC,
    Journal,
    _make_lock,
    _sync_and_close,
    lock_path,
    segment_number,
    segment_path,
)
from tests.clicks.records import (
    MOMENT,
    VISITOR,
    click_on,
    clicks_of,
    die_after_clicks,
    largest_file,
    open_descriptors,
    record_places,
    segments,
)

_RECORD_BYTES = VISITOR.record_length


class _Clock:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def _is_locked(path: Path) -> bool:
    fd = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def test_what_was_written_can_be_read_at_once(folder: Path) -> None:
    """Before any sync, by another reader, in order and numbered without a gap."""
    journal = Journal(folder)
    click_on(journal, 5, count=3)
    click_on(journal, 6, count=2)
    found = clicks_of(folder)
    assert [click.link_id for click in found] == [5, 5, 5, 6, 6]
    assert [click.sequence for click in found] == [1, 2, 3, 4, 5]
    assert found[0].address == b"203.0.113.9"
    journal.close()


def test_nobody_else_may_read_whole_addresses(folder: Path) -> None:
    """The folder and all that lies in it belong to the owner alone."""
    folder = folder / "made" / "with"
    journal = Journal(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    journal.close()


def test_two_processes_never_share_a_journal(folder: Path) -> None:
    """The id is random for each start."""
    first, second = Journal(folder), Journal(folder)
    assert first.journal_id != second.journal_id
    assert len(segments(folder)) == 2
    first.close()
    second.close()


def test_the_lock_says_who_is_alive(folder: Path) -> None:
    """It is held from before it can be seen until the journal is closed."""
    journal = Journal(folder)
    path = lock_path(folder, journal.journal_id)
    assert _is_locked(path)
    journal.close()
    assert not _is_locked(path)


def test_a_lock_that_cannot_be_made_leaves_nothing_behind(folder: Path) -> None:
    """Neither a file nor a descriptor: the next click tries again, and so may thousands."""
    before = open_descriptors()
    in_the_way = folder / "a.lock"
    in_the_way.mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        _make_lock(in_the_way)
    assert list(folder.iterdir()) == [in_the_way]
    assert open_descriptors() == before


def test_the_lock_goes_with_a_killed_process(folder: Path) -> None:
    """Nothing has to be cleaned up for ingest to know that the writer is dead."""
    die_after_clicks(folder, 5, count=1)
    (path,) = folder.glob("*.lock")
    assert not _is_locked(path)
    assert len(clicks_of(folder)) == 1


def test_a_full_segment_is_followed_by_the_next(folder: Path) -> None:
    """Records never cross segments, and none is lost on the way."""
    journal = Journal(folder, segment_bytes=SEGMENT_HEAD.size + 10 * _RECORD_BYTES)
    for _ in range(9):
        click_on(journal, 5, count=3)
    assert [len(record_places(path)) for path in segments(folder)] == [9, 9, 9]
    assert [click.sequence for click in clicks_of(folder)] == list(range(1, 28))
    assert journal.missed == 0
    journal.close()


def test_a_batch_larger_than_a_segment_gets_one_of_its_size(folder: Path) -> None:
    """A tick may bring more clicks than fit."""
    journal = Journal(folder, segment_bytes=1_000)
    click_on(journal, 5, count=100)
    click_on(journal, 6)
    assert len(clicks_of(folder)) == 101
    assert journal.missed == 0
    sizes = [path.stat().st_size for path in segments(folder)]
    assert sizes == [1_000, SEGMENT_HEAD.size + 100 * _RECORD_BYTES, 1_000]
    journal.close()


def test_a_large_batch_without_room_for_all_of_it_gets_no_segment(folder: Path) -> None:
    """The disk refuses when the segment is made, not in the middle of the batch."""
    journal = Journal(folder, segment_bytes=1_000)
    with largest_file(2_000):
        click_on(journal, 5, count=100)
    assert journal.missed == 100
    assert len(segments(folder)) == 1
    journal.close()


def test_segments_are_preallocated(folder: Path) -> None:
    """So a full disk is seen when a segment is made, and not between two records."""
    journal = Journal(folder, segment_bytes=1 << 20)
    (path,) = segments(folder)
    assert path.stat().st_size == 1 << 20
    assert path.stat().st_blocks * 512 >= 1 << 20
    journal.close()


def test_a_segment_says_whose_it_is(folder: Path) -> None:
    """Its head and its name tell the journal and the number; unless told otherwise it takes sixteen mebibytes."""
    journal = Journal(folder)
    (path,) = segments(folder)
    assert path.stat().st_size == SEGMENT_BYTES == 16 << 20
    head = SEGMENT_HEAD.unpack(path.read_bytes()[: SEGMENT_HEAD.size])
    assert head == (SEGMENT_MAGIC, bytes.fromhex(journal.journal_id), 0)
    assert segment_number(segment_path(folder, journal.journal_id, 12)) == 12
    assert (journal.missed, journal.sync_failures) == (0, 0)
    journal.close()


def test_a_disk_that_takes_no_segment_costs_only_clicks(folder: Path) -> None:
    """They are counted as missed, the disk is left alone for a second, and then everything is as before."""
    clock = _Clock()
    journal = Journal(folder, segment_bytes=SEGMENT_HEAD.size + 3 * _RECORD_BYTES, monotonic=clock)
    click_on(journal, 5, count=2)
    with largest_file(100):
        click_on(journal, 6, count=2)
    assert journal.missed == 2
    click_on(journal, 7, count=2)
    assert journal.missed == 4, "within the pause nothing is tried"
    clock.seconds += 1.0
    click_on(journal, 8, count=2)
    assert journal.missed == 4
    assert [click.link_id for click in clicks_of(folder)] == [5, 5, 8, 8]
    journal.close()


def test_what_still_fits_is_written_while_no_segment_can_be_made(folder: Path) -> None:
    """The old segment is kept until there is a new one, and ingest does not take it for finished."""
    journal = Journal(folder, segment_bytes=SEGMENT_HEAD.size + 3 * _RECORD_BYTES)
    click_on(journal, 5, count=2)
    with largest_file(100):
        click_on(journal, 6, count=2)
    click_on(journal, 7)
    assert [click.link_id for click in clicks_of(folder)] == [5, 5, 7]
    assert len(segments(folder)) == 1
    assert not list(folder.glob("*.new"))
    journal.close()


@pytest.mark.parametrize("cut", [1, _RECORD_BYTES - 1, _RECORD_BYTES, 2 * _RECORD_BYTES + 7])
def test_a_write_cut_short_keeps_the_whole_records(folder: Path, cut: int) -> None:
    """Ingest may have read them already; the torn one is missed, and the next batch takes its place."""
    journal = Journal(folder, segment_bytes=1 << 16)
    click_on(journal, 5)
    (path,) = segments(folder)
    end = record_places(path)[-1][1]
    whole = cut // _RECORD_BYTES
    with largest_file(end + cut):
        click_on(journal, 6, count=4)
    assert journal.missed == 4 - whole
    click_on(journal, 7, count=2)
    assert [click.link_id for click in clicks_of(folder)] == [5] + [6] * whole + [7, 7]
    journal.close()


def test_what_stands_behind_a_torn_record_is_missed_too(folder: Path) -> None:
    """However small it is: only what was written whole counts."""
    journal = Journal(folder, segment_bytes=1 << 16)
    large = Visitor(b"", b"a" * 1_000, b"", b"")
    small = Visitor(b"", b"", b"", b"")
    with largest_file(SEGMENT_HEAD.size + small.record_length + 500):
        journal.write([(MOMENT, 1, small), (MOMENT, 2, large), (MOMENT, 3, small)])
    assert journal.missed == 2
    click_on(journal, 4)
    assert [click.link_id for click in clicks_of(folder)] == [1, 4]
    journal.close()


def test_a_refused_write_does_not_stop_the_next(folder: Path) -> None:
    """The disk refuses in the middle of a segment and works again."""
    journal = Journal(folder, segment_bytes=1 << 16)
    with largest_file(SEGMENT_HEAD.size):
        click_on(journal, 5, count=3)
    assert journal.missed == 3
    click_on(journal, 6, count=2)
    assert [click.link_id for click in clicks_of(folder)] == [6, 6]
    journal.close()


def test_a_write_that_takes_a_part_is_gone_on_with(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is nearly full takes some bytes and then the others; no click is missed."""
    journal = Journal(folder, segment_bytes=1 << 16)
    whole_write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: whole_write(fd, data[:50], offset))
    click_on(journal, 5, count=3)
    assert journal.missed == 0
    click_on(journal, 6)
    assert [click.link_id for click in clicks_of(folder)] == [5, 5, 5, 6]
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: whole_write(fd, data[:50], offset) % 50)
    click_on(journal, 7)
    assert journal.missed == 1, "nothing more is taken, and it is not asked for ever"
    journal.close()


def test_a_full_disk_at_the_start_stops_no_worker(folder: Path) -> None:
    """The journal opens without a segment and makes one when there is room again."""
    with largest_file(100):
        journal = Journal(folder, segment_bytes=1 << 16)
        click_on(journal, 5)
    assert journal.missed == 1
    assert not segments(folder)
    journal.close()

    clock = _Clock()
    with largest_file(100):
        journal = Journal(folder, segment_bytes=1 << 16, monotonic=clock)
    click_on(journal, 6)
    assert journal.missed == 0
    assert [click.link_id for click in clicks_of(folder)] == [6]
    journal.close()


def test_a_sync_is_due_only_when_something_was_written(folder: Path) -> None:
    """An idle worker leaves the disk in peace."""
    journal = Journal(folder)
    journal.sync()
    assert journal.sync_job() is None
    click_on(journal, 5)
    job = journal.sync_job()
    assert job is not None
    job()
    assert journal.sync_job() is None
    journal.close()


def test_without_a_free_descriptor_the_sync_waits(folder: Path) -> None:
    """Many connections may have taken them all; what is to be synced stays to be synced."""
    journal = Journal(folder)
    click_on(journal, 5)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        assert journal.sync_job() is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    job = journal.sync_job()
    assert job is not None
    job()
    journal.close()


def test_a_failed_sync_is_told_and_stops_no_other() -> None:
    """All are tried and closed; who waits for the disk learns of the failure, be it the only one."""
    before = open_descriptors()
    for failing in (1, 2):
        reading, writing = os.pipe()
        file = os.open(__file__, os.O_RDONLY)
        if failing == 1:
            os.close(writing)
        with pytest.raises(OSError, match="Invalid argument"):
            _sync_and_close([file, reading, writing][: 1 + failing])
        assert open_descriptors() == before


def test_no_descriptor_is_left_behind(folder: Path) -> None:
    """Segments that were left are synced and closed by the next sync, the rest when the journal closes."""
    before = open_descriptors()
    journal = Journal(folder, segment_bytes=SEGMENT_HEAD.size + 2 * _RECORD_BYTES)
    for _ in range(10):
        click_on(journal, 5, count=2)
    journal.sync()
    assert open_descriptors() == before + 2, "the lock and the segment in use"
    click_on(journal, 5, count=2)
    journal.close()
    assert open_descriptors() == before
    journal.close()
    assert open_descriptors() == before, "a second time changes nothing"


def test_visitors_with_empty_headers_are_clicks_too(folder: Path) -> None:
    """A record that ends with zeros is whole."""
    journal = Journal(folder)
    journal.write([(MOMENT, 5, Visitor(b"", b"", b"", b""))])
    assert [click.link_id for click in clicks_of(folder)] == [5]
    journal.close()


def test_an_old_segment_with_clicks_is_left(folder: Path) -> None:
    """Whole addresses do not lie there until it is full: it can be deleted once applied. An empty one stays."""
    clock = _Clock()
    journal = Journal(folder, segment_bytes=1 << 16, monotonic=clock)
    clock.seconds += 3_600
    journal.leave_old_segment()
    assert len(segments(folder)) == 1
    click_on(journal, 1, count=2)
    journal.leave_old_segment()
    click_on(journal, 2)
    clock.seconds += 600
    journal.leave_old_segment()
    assert len(segments(folder)) == 2
    assert [click.link_id for click in clicks_of(folder)] == [1, 1, 2]
    clock.seconds += 1
    journal.leave_old_segment()
    assert len(segments(folder)) == 3, "ten minutes are over"
    journal.close()


def test_a_full_disk_keeps_the_old_segment(folder: Path) -> None:
    """It is tried again later; clicks that fit go on into it."""
    clock = _Clock()
    journal = Journal(folder, segment_bytes=1 << 16, monotonic=clock)
    click_on(journal, 1)
    clock.seconds += 3_600
    with largest_file(1 << 12):
        journal.leave_old_segment()
    click_on(journal, 2)
    assert len(segments(folder)) == 1
    assert journal.missed == 0
    journal.close()
