"""The mark outside the database: how far the cursor has ever come."""

from pathlib import Path

from laconic.codes.high_water import HighWater, mark_file, marks_in


def test_the_mark_only_grows(tmp_path: Path) -> None:
    """Whoever comes late with a lower one changes nothing."""
    path = tmp_path / "mark"
    for mark, expected in [(5, 5), (1_000, 1_000), (7, 1_000), (1_000, 1_000), (1_001, 1_001)]:
        HighWater(path).raise_to(mark)
        assert HighWater(path).read() == expected
    assert path.read_bytes() == b"00000000000000001001\n"


def test_without_a_file_the_mark_is_zero(tmp_path: Path) -> None:
    """The first start, and an installation that keeps none."""
    assert HighWater(tmp_path / "mark").read() == 0
    assert HighWater(tmp_path / "none" / "mark").read() == 0
    assert HighWater(None).read() == 0


def test_the_mark_is_the_owners(tmp_path: Path) -> None:
    """Who could lower it could have codes given out twice."""
    HighWater(tmp_path / "mark").raise_to(1)
    assert (tmp_path / "mark").stat().st_mode & 0o777 == 0o600


def test_every_mark_of_a_folder_is_found(tmp_path: Path) -> None:
    """By region and code length; files of other names are none."""
    for region, length, mark in [("eu-1", 7, 12), ("eu-1", 10, 3), ("us", 8, 4)]:
        HighWater(mark_file(tmp_path, region, length)).raise_to(mark)
    (tmp_path / "codes-EU-7.high-water").write_text("9")
    (tmp_path / "codes-eu-7.high-water.old").write_text("9")
    assert marks_in(tmp_path) == [("eu-1", 10, 3), ("eu-1", 7, 12), ("us", 8, 4)]
