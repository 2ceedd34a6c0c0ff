"""Which few links a search may mean, so that a list of a million is not walked to find them."""

from collections.abc import Sequence
from typing import Final

from laconic.links.search.store import MOST_FOUND, SearchStore

# Numbers of ids that statements are made for: a few texts, which engines prepare once.
_SIZES: Final = (20, 200, MOST_FOUND)


async def candidates(
    store: SearchStore, workspace_id: int, text: str, words: Sequence[str]
) -> list[int] | None:
    """Ids, each once; None when they are too many or no index tells: then the list itself is searched."""
    by_url = await store.by_url(workspace_id, text)
    if by_url is None:
        return None
    by_words = await store.by_words(workspace_id, words) if words else []
    by_code = await store.by_code(workspace_id, text)
    if by_words is None or by_code is None:
        return None
    found = {*by_url, *by_words, *by_code}
    return None if len(found) > store.most_found else list(found)


def padded(ids: list[int]) -> list[int]:
    """To the next of few sizes, by naming the last one again."""
    size = next(size for size in _SIZES if size >= len(ids))
    return ids + ids[-1:] * (size - len(ids))
