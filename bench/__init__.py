"""Measures Laconic beside other servers: `python -m bench`. docs/benchmarks.md says how."""
