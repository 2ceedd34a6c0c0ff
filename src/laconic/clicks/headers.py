"""Header values as text, and the language that a visitor prefers."""

_MOST_LANGUAGES = 20_000


def text_of(header: bytes) -> str:
    """As it can be stored: UTF-8 with wrong bytes replaced, and without U+0000, which PostgreSQL refuses."""
    return header.decode("utf-8", "replace").replace("\0", "")


class Languages(dict[bytes, str]):
    """`languages[header]`: the visitor's first language, such as "de"; empty when unknown.

    Of an Accept-Language header (RFC 9110, 12.5.4) the tag with the highest quality, the first of equals, and of
    that the primary subtag: "de-AT,de;q=0.9,en;q=0.8" is "de". Where a visitor lives is the country's matter.
    """

    def __missing__(self, header: bytes) -> str:
        if len(self) >= _MOST_LANGUAGES:
            self.clear()
        language = self[header] = _first_language(header)
        return language


def _first_language(header: bytes) -> str:
    best, best_quality = "", 0.0
    for part in header.decode("latin-1").split(","):
        tag, _, parameter = part.partition(";")
        language = tag.strip().partition("-")[0].partition("_")[0].lower()
        # ISO 639: two or three letters. "*" and "i-klingon" tell nothing.
        if 2 <= len(language) <= 3 and language.isascii() and language.isalpha():
            quality = _quality(parameter)
            if quality > best_quality:
                best, best_quality = language, quality
    return best


def _quality(parameter: str) -> float:
    """1 when nothing is said, 0 when it is not a number that RFC 9110 allows."""
    name, _, value = parameter.strip().partition("=")
    if not name:
        return 1.0
    try:
        quality = float(value)
    except ValueError:
        return 0.0
    return quality if name.strip().lower() == "q" and 0 <= quality <= 1 else 0.0
