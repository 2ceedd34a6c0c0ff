"""What languages are called: those that browsers ask for most. Codes are those of ISO 639-1, which clicks are counted by."""

from typing import Final

_NAMES: Final = """
ar Arabic|bg Bulgarian|bn Bengali|ca Catalan|cs Czech|da Danish|de German|el Greek|en English|es Spanish|et Estonian
eu Basque|fa Persian|fi Finnish|fr French|ga Irish|gl Galician|he Hebrew|hi Hindi|hr Croatian|hu Hungarian|id Indonesian
is Icelandic|it Italian|ja Japanese|ko Korean|lt Lithuanian|lv Latvian|ms Malay|nb Norwegian Bokmål|nl Dutch|nn Norwegian Nynorsk
no Norwegian|pl Polish|pt Portuguese|ro Romanian|ru Russian|sk Slovak|sl Slovenian|sq Albanian|sr Serbian|sv Swedish|sw Swahili
ta Tamil|te Telugu|th Thai|tr Turkish|uk Ukrainian|ur Urdu|vi Vietnamese|zh Chinese
"""
_BY_CODE: Final = dict(entry.split(" ", 1) for entry in _NAMES.strip().replace("\n", "|").split("|"))


def language_name(code: str) -> str:
    """The code itself for one that is not listed."""
    return _BY_CODE.get(code.lower(), code)
