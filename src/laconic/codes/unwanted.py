"""Codes that are never given out, because a person would read something into them, or could not read them at all.

A generated code goes onto posters and into letters under its owner's name. A few in a hundred are left out; there
are 3.5 * 10^12 of them.
"""

import re

from laconic.codes.rules import is_reserved

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
_AS_LETTERS = str.maketrans("013457$", "oieasts")
_UNWANTED = re.compile("|".join(sorted(_ROOTS)))

# Two of a kind in one code, and whoever types it from paper cannot tell which is which; one alone is found by trying
# the other.
_LOOK_ALIKES = re.compile(
    "|".join(f"(?=.*{first})(?=.*{second})" for first, second in ("0O", "1l", "1I", "Il"))
)


def is_wanted(code: str) -> bool:
    """May this generated code be given out?"""
    if _LOOK_ALIKES.match(code):
        return False
    plain = code.lower()
    return not (
        is_reserved(code) or _UNWANTED.search(plain) or _UNWANTED.search(plain.translate(_AS_LETTERS))
    )
