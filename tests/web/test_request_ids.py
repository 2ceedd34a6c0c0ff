"""Every request has a name that no other has."""

from laconic.web.request_ids import HEADER, RequestIds


def test_new_ones_differ_within_a_process_and_between_two() -> None:
    """Processes know nothing of each other."""
    made = [ids.of([]) for ids in (RequestIds(), RequestIds()) for _ in range(1_000)]
    assert len(set(made)) == len(made)


def test_a_fit_one_is_kept() -> None:
    """What would spoil a log or a header is replaced."""
    ids = RequestIds()
    assert ids.of([(b"host", b"a"), (HEADER, b"a-name.1")]) == "a-name.1"
    assert ids.of([(HEADER, b"a\nname")]) != "a\nname"
    assert ids.of([(HEADER, b"x" * 129)]) != "x" * 129
