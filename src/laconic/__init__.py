"""Laconic: a self-hosted URL shortener that loses nothing it has answered."""

__version__ = "0.1.0"
