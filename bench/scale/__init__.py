"""A whole deployment on one machine, and what becomes of it: see `python -m bench.scale --help`."""
