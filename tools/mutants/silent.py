"""Places where a mutant says nothing about the tests, because what stands there does not decide what is done.

Annotations and what is imported for them alone; `frozen` and `slots` of a dataclass, which hold for whoever writes the
code and not for who runs it, as does the star in a list of parameters; and the arguments of log calls, which are for
people to read.
"""

import ast
from collections.abc import Iterator

_Range = tuple[tuple[int, int], tuple[int, int]]


class SilentPlaces:
    def __init__(self, source: str) -> None:
        self._ranges = [_range(node) for part in ast.walk(ast.parse(source)) for node in _silent_in(part)]

        self._lines = source.splitlines()

    def __contains__(self, place: tuple[int, int]) -> bool:
        row, column = place
        # A star before a comma multiplies nothing: what follows must be named by who calls.
        if self._lines[row - 1][column:].startswith("*,"):
            return True
        return any(begin <= place < end for begin, end in self._ranges)


def _range(node: ast.expr | ast.stmt) -> _Range:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _silent_in(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    match node:
        case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
            yield annotation
        case (
            ast.FunctionDef(returns=ast.expr() as returns)
            | ast.AsyncFunctionDef(returns=ast.expr() as returns)
        ):
            yield returns
        case ast.ClassDef(decorator_list=decorators):
            for decorator in decorators:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "dataclass":
                    yield from (keyword.value for keyword in decorator.keywords)
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body):
            yield from body
        case ast.Call(func=ast.Attribute(value=ast.Name(id="log")), args=arguments, keywords=keywords):
            yield from arguments
            yield from (keyword.value for keyword in keywords)
