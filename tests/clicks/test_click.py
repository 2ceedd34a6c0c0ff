"""A click's bytes: what goes in comes out, and what is not whole and sound is not taken for a click."""

from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.click import LONGEST_RECORD, Click, Visitor, find_record, read_record, records_of

_TEXTS = st.binary(max_size=200)
_VISITORS = st.tuples(_TEXTS, _TEXTS, _TEXTS, _TEXTS)
_HEADS = st.tuples(
    st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)
)


def _record(head: tuple[int, int, int] = (7, 8, 9), agent: bytes = b"Mozilla/5.0") -> bytes:
    sequence, moment, link_id = head
    visitor = Visitor(b"203.0.113.9", agent, b"https://news.example/", b"de")
    return records_of(sequence, [(moment, link_id, visitor)])


@given(_HEADS, _VISITORS)
def test_a_record_reads_back_as_it_was_written(
    head: tuple[int, int, int], visitor: tuple[bytes, bytes, bytes, bytes]
) -> None:
    """Every number and every header value that fits comes back unchanged, and the end is the record's end."""
    address = visitor[0][:64]
    language = visitor[3][:128]
    record = records_of(head[0], [(*head[1:], Visitor(address, visitor[1], visitor[2], language))])
    assert read_record(record, 0) == (Click(*head, address, visitor[1], visitor[2], language), len(record))


@given(st.lists(st.tuples(_HEADS, _TEXTS), max_size=20))
def test_records_stand_one_after_another(clicks: list[tuple[tuple[int, int, int], bytes]]) -> None:
    """Each record says where the next one begins."""
    data = b"".join(_record(head, agent) for head, agent in clicks)
    found, offset = [], 0
    while record := read_record(data, offset):
        found.append((record[0].sequence, record[0].user_agent))
        offset = record[1]
    assert found == [(head[0], agent) for head, agent in clicks]
    assert offset == len(data)


@given(st.binary(max_size=10_000), st.binary(max_size=10_000), st.binary(max_size=10_000))
def test_endless_headers_are_cut(agent: bytes, referrer: bytes, language: bytes) -> None:
    """However long a header is, the record stays within its bound and keeps the beginning."""
    record = records_of(1, [(2, 3, Visitor(b"a" * 500, agent, referrer, language))])
    assert len(record) <= LONGEST_RECORD
    found = read_record(record, 0)
    assert found is not None
    assert agent.startswith(found[0].user_agent)
    assert len(found[0].address) == 64


@given(st.integers(0, 10_000))
def test_a_record_without_its_end_is_none(cut: int) -> None:
    """What a process was writing when it died is not a click, wherever it was cut."""
    record = _record()
    assert read_record(record[: cut % len(record)], 0) is None
    assert read_record(record[: cut % len(record)] + bytes(100), 0) is None


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, change: int) -> None:
    """One wrong byte anywhere and the record counts for nothing."""
    record = bytearray(_record())
    record[place % len(record)] ^= change
    assert read_record(bytes(record) + bytes(5_000), 0) is None


def test_zeros_are_no_record() -> None:
    """Preallocated space means that nothing was written yet."""
    assert read_record(bytes(5_000), 0) is None
    assert find_record(bytes(5_000), 0) is None


@given(st.binary(max_size=3_000), st.binary(max_size=50))
def test_the_next_sound_record_is_found_behind_garbage(garbage: bytes, behind: bytes) -> None:
    """Whatever stands before it, and on whatever byte it begins."""
    data = garbage + _record() + behind
    assert find_record(data, 0) == len(garbage)


def test_a_record_that_begins_inside_a_likely_length_is_found() -> None:
    """The bytes before it and its first ones look like a length together."""
    record = _record(agent=b"a" * (256 - len(_record(agent=b""))))
    assert record[:4] == b"\x00\x01\x00\x00"
    for garbage in (b"\x30\x00\x00", b"\x01\x02\x00", b"\x30\x00\x00\x00\x30\x00\x00"):
        assert find_record(garbage + record, 0) == len(garbage)


@given(st.binary(max_size=1_024).filter(lambda text: 0 not in text))
def test_a_visitor_cannot_plant_a_record(text: bytes) -> None:
    """Header values hold no zero bytes, so no record can be found inside a damaged one."""
    record = bytearray(_record(agent=text))
    record[8] ^= 1
    assert find_record(bytes(record), 0) is None
