"""Proof that a domain is its owner's: a TXT record, or a file that the host itself serves.

Laconic never answers for the file: a host that already leads here would otherwise prove itself for whoever asks
first (decision 0037).
"""

from urllib.parse import urljoin, urlsplit

from laconic.errors import CannotFetch
from laconic.outside.client import Fetched, PublicClient
from laconic.outside.names import Names
from laconic.workspaces.domains.model import DNS_LABEL, HTTP_PATH, Domain

_MOST_REDIRECTS = 3


class ProofReader:
    def __init__(self, client: PublicClient, names: Names, *, http_port: int = 80) -> None:
        """`http_port` is for tests."""
        self._client = client
        self._names = names
        self._port = "" if http_port == 80 else f":{http_port}"

    async def by_dns(self, domain: Domain) -> str | None:
        """None when it is proved, otherwise what was found instead."""
        name = f"{DNS_LABEL}.{domain.host}"
        try:
            texts = await self._names.texts(name)
        except CannotFetch as error:
            return str(error)
        if any(text.strip() == domain.proof_text for text in texts):
            return None
        return f"{name} has no TXT record{' with this value' if texts else ''}."

    async def by_http(self, domain: Domain) -> str | None:
        """The same for the file on the host."""
        url = f"http://{domain.host}{self._port}{HTTP_PATH}"
        try:
            answer = await self._follow(url, domain.host)
        except CannotFetch as error:
            return f"{url}: {error}"
        if answer.status != 200:
            return f"{url} answers {answer.status}."
        if domain.proof_text.encode() in answer.body.split():
            return None
        return f"{url} does not hold the value."

    async def _follow(self, url: str, host: str) -> Fetched:
        """On the same host only, such as from http to https: what another host says proves nothing."""
        answer = await self._client.get(url)
        for _ in range(_MOST_REDIRECTS):
            if answer.location is None or answer.status not in (301, 302, 303, 307, 308):
                break
            url = urljoin(url, answer.location)
            if urlsplit(url).hostname != host:
                raise CannotFetch("elsewhere", "It redirects to another host.")
            answer = await self._client.get(url)
        return answer
