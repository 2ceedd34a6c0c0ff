"""Codes that are never given out, because a person would read something into them, or could not read them at all.

A generated code goes onto posters and into letters under its owner's name. A few in a hundred are left out; there
are 3.5 * 10^12 of them.
"""

import re
from itertools import groupby
from operator import itemgetter

from laconic.codes.rules import RESERVED_WORDS

# Roots, as they stand inside longer words, of what nobody wants in a link: abuse, slurs, sex, drugs, violence, in
# the languages that most people would recognise. Four letters or more, and a few of three that mean nothing else.
_ROOTS = """
    anal anus arsch arse bastard bitch bollock boner boob bugger butt clit cock coon crap cunt damn dick dildo dyke
    fag fick fotze fuck fuk gook hell hitler hure idiot isis jerk jihad jizz kike kill kkk klan kurwa lesb merde
    milf mong moron murder nazi negro nigg nude orgy paki penis phuq piss porn pube pussy puta puto queer rape rapist
    retard satan scat scheis schwul scum semen sex shag shit shyt slut smut spastic spic spunk stupid suck suicid
    terror tits titt tosser tranny turd twat vagin wank whor wichs xxx
""".split()

# Digits that stand for letters to whoever wants to read them so. One as i: as l it would need roots of its own.
AS_LETTERS = str.maketrans("013457$", "oieasts")
# By first letter, so that nearly every place of a code is passed over by one comparison.
_UNWANTED = re.compile(
    "|".join(
        f"{letter}(?:{'|'.join(root[1:] for root in roots)})"
        for letter, roots in groupby(sorted(_ROOTS), itemgetter(0))
    )
)

LOOK_ALIKES = ("0O", "1lI")

BEGINNINGS = frozenset(root[:3] for root in _ROOTS)


def is_wanted(code: str) -> bool:
    """May this generated code be given out?"""
    plain = code.lower()
    if _has_look_alikes(code) or plain in RESERVED_WORDS or _UNWANTED.search(plain):
        return False
    letters = plain.translate(AS_LETTERS)
    return letters == plain or not _UNWANTED.search(letters)


def _has_look_alikes(code: str) -> bool:
    """Two of a kind in one code, and whoever types it from paper cannot tell which is which; one alone is found by
    trying the other."""
    # LOOK_ALIKES written out: a loop over them takes six times as long.
    return ("0" in code and "O" in code) or ("1" in code) + ("l" in code) + ("I" in code) > 1
