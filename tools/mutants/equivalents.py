"""Mutants that change nothing anybody could notice, each with the reason.

By file, the line as it becomes, and why. Such a mutant is not run, does not count in the score, and stands in the page.
"""

EQUIVALENT: dict[tuple[str, str], str] = {}
