"""Which mutants there are, and a fair sample of them."""

import difflib
import json
import random
import re
import subprocess
from pathlib import Path

from tools.mutants.meet import ROOT, Mutant
from tools.mutants.silent import SilentPlaces
from tools.mutants.targets import Target

_PYTHON = ROOT / ".venv-mutants" / "bin" / "python"
_GENERATE = Path(__file__).with_name("generate.py")
# Path, operator, its occurrence, row and column.
_Listed = tuple[str, str, int, int, int]


def choose(target: Target, sample: int, seed: int) -> tuple[int, list[Mutant]]:
    """How many there are, and as many of them as are asked for, in an order of chance.

    One at each place, and a second one at a place only when every place has had one: a plus sign has eleven mutants, all
    noticed alike by whoever notices one, and would outweigh what is harder to notice.
    """
    listed = [mutant for mutant in _listed(target) if not _is_silent(mutant)]
    random.Random(seed).shuffle(listed)
    seen: dict[tuple[str, int, int], int] = {}
    turns = []
    for mutant in listed:
        place = mutant[0], mutant[3], mutant[4]
        turns.append(seen.get(place, 0))
        seen[place] = turns[-1] + 1
    order = sorted(range(len(listed)), key=turns.__getitem__)
    return len(listed), _made([listed[index] for index in order[:sample]])


def _listed(target: Target) -> list[_Listed]:
    code = ROOT / target.code
    files = [code] if code.is_file() else sorted(code.rglob("*.py"))
    names = [str(file.relative_to(ROOT)) for file in files]
    return [tuple(mutant) for mutant in json.loads(_generate(["list", *names]))]


_silent: dict[str, SilentPlaces] = {}


def _is_silent(mutant: _Listed) -> bool:
    path, _, _, row, column = mutant
    if path not in _silent:
        _silent[path] = SilentPlaces((ROOT / path).read_text())
    return (row, column) in _silent[path]


def _made(chosen: list[_Listed]) -> list[Mutant]:
    sources = json.loads(_generate(["make"], json.dumps(chosen)))
    return [_mutant(listed, source) for listed, source in zip(chosen, sources, strict=True)]


def _mutant(listed: _Listed, source: str) -> Mutant:
    path, operator, _, row, _ = listed
    before, after = (ROOT / path).read_text().splitlines(), source.splitlines()
    was, becomes = [], []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            was += before[a:b]
            becomes += after[c:d]
    # cosmic-ray writes a space before each number.
    shown = re.sub(r"(?<=[\[({-]) (?=[-\d])", "", _one_line(becomes))
    return Mutant(path, operator.removeprefix("core/"), row, _one_line(was), shown, source)


def _one_line(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)


def _generate(arguments: list[str], text: str = "") -> str:
    command = [str(_PYTHON), str(_GENERATE), *arguments]
    return subprocess.run(command, cwd=ROOT, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
