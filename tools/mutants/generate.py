"""Run by the interpreter that has cosmic-ray: lists the mutants of files, and makes those that were chosen.

`list FILE…` writes JSON, [path, operator, occurrence, row, column] of each; `make` reads such a list and writes the
mutated sources in its order.
"""

import json
import sys
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names


def _mutants(path):
    tree = get_ast_from_path(Path(path))
    for name in operator_names():
        operator = get_operator(name)
        # Those with arguments exchange variables that somebody would have to name.
        if not operator.arguments():
            positions = [
                start for node in ast_nodes(tree) for start, _ in operator().mutation_positions(node)
            ]
            for occurrence, (row, column) in enumerate(positions):
                yield path, name, occurrence, row, column


def main():
    if sys.argv[1] == "list":
        result = [mutant for path in sys.argv[2:] for mutant in _mutants(path)]
    else:
        result = [
            mutate_code(Path(path).read_text(), get_operator(name)(), occurrence)
            for path, name, occurrence, *_ in json.load(sys.stdin)
        ]
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
