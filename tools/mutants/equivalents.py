"""Mutants that change nothing anybody could notice, each with the reason.

By file and by the line as it becomes. Such a mutant is not run and does not count in the score; the page tells it with its
reason. When the line changes the entry no longer fits, and the mutant is met like any other.
"""

_ORIGINAL_HREF = "a serialisation begins with its scheme, so nothing is found at its beginning"
_NO_SPACE = "the serialisation holds neither a space nor U+007F: they are encoded wherever they may stand"
_NO_DESCRIPTOR = "any number below 0 is no descriptor, and 0 is the standard input's"
_NO_DUPLICATE = "what is no descriptor cannot be duplicated, and the answer is None all the same"
_SET_LATER = "it is set when the first segment is opened, and not looked at before"
_LONG_AGO = "the clock has long passed both"
_SMALL = "it is the smallest size that matters, and a segment is larger"
_KEPT_WHOLE = (
    "a batch that was written whole then counts as cut short behind its last record, and all of it is kept"
)
_RECORDS_ARE_LONGER = "no record is as short as that"
_NO_COMMON_BITS = "the two have no bit in common"
_SAME_VISITOR = "what is equal makes an equal visitor"
_NOT_ABSOLUTE = (
    "what begins otherwise than with a letter is no absolute URL, and keeps its path and its Host header"
)
_ONLY_GROW = "doubts only grow, and are asked only whether they have"
_NO_SIZE = "no size is below 0"
_ONLY_ROOM = "the kernel writes its count over it"
_ONE_BY_ONE = "they grow by one at a time, so the bound is met exactly"

EQUIVALENT: dict[tuple[str, str], str] = {
    (path, becomes): reason
    for path, lines in {
        "links/targets.py": {
            'path_end = min(index for index in (href.find("?"), href.find("#"), len(href)) if index > 0)': _ORIGINAL_HREF,
            'path_end = min(index for index in (href.find("?"), href.find("#"), len(href)) if index >= 1)': _ORIGINAL_HREF,
            "_SAFE: Final = bytes(code for code in range(32, 0x7F) if code not in b'\"<>')": _NO_SPACE,
            "_SAFE: Final = bytes(code for code in range(0x21, 128) if code not in b'\"<>')": _NO_SPACE,
            "if len(self._public_hosts) == _MOST_PUBLIC_HOSTS:": _ONE_BY_ONE,
            "if plain is not None and plain[0] in self._public_hosts:": "every text goes through the parser, which says the same more slowly",
            'problem = error.errors()[-1].get("ctx", {}).get("error", "")': "there is one error",
            r'_PARTS: Final = re.compile(r"(https?:)[/\\]*([^/\\?#]*)(.*)", re.ASCII | re.IGNORECASE + re.DOTALL)': "flags that differ in all their bits add up",
            r'_PARTS: Final = re.compile(r"(https?:)[/\\]*([^/\\?#]*)(.*)", re.ASCII | re.IGNORECASE ^ re.DOTALL)': _NO_COMMON_BITS,
            r'_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.\-]*):", re.ASCII + re.IGNORECASE)': "flags that differ in all their bits add up",
            "if veiled <= name or not _ASCII_NAME.fullmatch(decoded):": "the veil is a later character than what it veils, so a veiled name is never the smaller one",
            'if parts is None or "@" in parts[1]:': "what stands before the sign is then taken for the host and judged, and the name behind it is refused all the same",
            'if "@" in text and "@" in href.split("/", 4)[2]:': "the third part is the same, however many follow",
            'if scheme is not None and "." not in scheme[0] and scheme[1].lower() != "localhost":': "the colon behind a scheme is no dot",
        },
        "clicks/journal.py": {
            "fd = os.open(hidden, os.O_RDWR | os.O_CREAT + os.O_TRUNC, 0o600)": _NO_COMMON_BITS,
            "fd = os.open(hidden, os.O_RDWR ^ os.O_CREAT | os.O_EXCL, 0o600)": _NO_COMMON_BITS,
            "if self._fd <= 0 or place == self._synced_to:": _NO_DESCRIPTOR,
            "if self._fd == 0 or place == self._synced_to:": _NO_DUPLICATE,
            "self._synced_to = (0, -1)": _SET_LATER,
            "self._synced_to = (-1, 0)": _SET_LATER,
            "while written is not len(data):": _KEPT_WHOLE,
            "while written <= len(data):": _KEPT_WHOLE,
            "if self._lock < 1:": _NO_DESCRIPTOR,
            "self._fd = self._lock = -2": _NO_DESCRIPTOR,
            "if fd >= 1:": _NO_DESCRIPTOR,
            "if self._fd >= 1:": _NO_DESCRIPTOR,
            "if self._fd > 0:": _NO_DESCRIPTOR,
            "if self._fd > 0 and self._offset > SEGMENT_HEAD.size and age > _LEAVE_AFTER_SECONDS:": _NO_DESCRIPTOR,
            "if self._fd >= 1 and self._offset > SEGMENT_HEAD.size and age > _LEAVE_AFTER_SECONDS:": _NO_DESCRIPTOR,
            "if self._fd < -1 or place == self._synced_to:": _NO_DUPLICATE,
            "if self._fd >= 0 and self._offset is not SEGMENT_HEAD.size and age > _LEAVE_AFTER_SECONDS:": "the offset is never smaller, and Python keeps one object for so small a number",
            "self._opened_at = -1.0": _SET_LATER,
            "self._opened_at = 1.0": _SET_LATER,
            "self._offset = 1": _SET_LATER,
            "self._offset = -1": _SET_LATER,
            "self._synced_to = (1, 0)": _SET_LATER,
            "self._synced_to = (0, 1)": _SET_LATER,
            "self._retry_at = 1.0": _LONG_AGO,
            "self._retry_at = -1.0": _LONG_AGO,
            "self._open_next(1)": _SMALL,
            "self._open_next(-1)": _SMALL,
            "written = -1": _RECORDS_ARE_LONGER,
            "written = 1": _RECORDS_ARE_LONGER,
            "fd = os.open(hidden, os.O_RDWR | os.O_CREAT % os.O_EXCL, 0o600)": "the name is of sixteen random bytes: there is no such file",
        },
        "codes/many.py": {
            "lower = [chr(code).lower() for code in range(129)]": "one more than there are, and nobody asks for it",
            "bits[(first * _KINDS + second) * _KINDS ^ third] = True": _NO_COMMON_BITS,
        },
        "codes/permutation.py": {
            "for index in range(_ROUNDS ^ 2, -1, -2):": "eight either way",
            'blocks = array("Q", [self.length << 8 ^ number]) * (2 * len(halves))': _NO_COMMON_BITS,
        },
        "codes/pool.py": {
            "await asyncio.sleep(-1)": "a sleep of no time or less gives the others their turn all the same",
            "await asyncio.sleep(clock.monotonic() % began)": "the same until the clock has run for twice as long",
        },
        "codes/store.py": {
            "for length in range(wanted, _LONGEST_CODE ^ 1):": "thirteen either way",
            "owned = [row[1] for row in rows if (row[0], row[1]) == (region, prefix) and row[1] >= wanted]": "the claim is made once more, in a transaction, and comes to the same length",
            "async def lease(self, region: str, code_length: int, count: int, floor: int = -1) -> Leased:": "no counter is below 0",
        },
        "codes/watch.py": {
            "and self.minimum > 1": "a tenth of one code is none, and nothing is below that",
        },
        "redirect/cache.py": {
            "if self._recheck > _RECHECK_UNFOLLOWED:": "there are two values, and this is the smaller one",
            "if not self._is_buried(key, entry.version) and self._doubts <= doubts:": _ONLY_GROW,
            "if entry is None or self._is_buried(key, entry.version) or self._doubts > doubts:": _ONLY_GROW,
            "self._doubts += 2": _ONLY_GROW,
            "if entry.fresh_until <= 0 or moment >= entry.checked_at + self._recheck:": "no moment is below 0",
            "if self.monotonic() < self._failed_until.get(key, -1.0):": "the clock never shows less than 0",
            "if len(self._failed_until) == _MOST_FAILURES:": _ONE_BY_ONE,
            "_KEEP_GONE = 3601 * SECOND": "whatever is remembered is asked for again after a minute",
        },
        "redirect/hosts.py": {
            "if len(self._spellings) != _MOST_SPELLINGS and len(host) <= _LONGEST_NAME:": _ONE_BY_ONE,
        },
        "redirect/lookup.py": {
            "return link if found is None else replace(link, note=str(found[-1]))": "the row has one column",
        },
        "redirect/recent.py": {
            "self._turn_at = monotonic() - seconds": "the first turn comes at once, and finds both tables empty",
        },
        "redirect/shared.py": {
            "break  # a change was told while it waited": "the rest goes out with the next batch, at once",
        },
        "redirect/lane/batch.py": {
            "if took <= 0:  # noqa: PLR1730  # the clock was set back; a call would cost more than all else here": "0 becomes 0",
        },
        "redirect/lane/connection.py": {
            "self.stuck_bytes = -2": _NO_SIZE,
            "self.stuck_bytes = ~1": _NO_SIZE,
            "self._ignore_upgrade(data[upgrade.args[-1] :])": "the parser says one thing, how far it has read",
        },
        "redirect/lane/hits.py": {
            "if head.visitor_key != self._visitor_key:": _SAME_VISITOR,
            "if key is not self._visitor_key:": _SAME_VISITOR,
            'if self.url[:1] > b"/":': _NOT_ABSOLUTE,
            'if self.url[:1] >= b"/":': _NOT_ABSOLUTE,
            'if self.url[: 2] != b"/":': _NOT_ABSOLUTE,
            'if seen[_CONNECTION] is not None and parser.get_http_version() <= "1.0":': "the parser lets no earlier version through",
        },
        "redirect/lane/unsent.py": {
            "_NONE = _COUNT.pack(-1)": _ONLY_ROOM,
            "_NONE = _COUNT.pack(1)": _ONLY_ROOM,
            "held += _COUNT.unpack(fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, _NONE))[-1]": "it is one number",
        },
    }.items()
    for becomes, reason in lines.items()
}
