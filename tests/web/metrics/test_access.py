"""Who may read /metrics: whoever has the token, the operator, and programs of this machine."""

import pytest

from tests.web.api.opened import Api, OpenApi

FAR = "203.0.113.9"


@pytest.fixture
def open_api(open_every_api: OpenApi) -> OpenApi:
    return open_every_api


async def status(api: Api, address: str = FAR, **headers: str) -> int:
    async with api.client(address, **headers) as client:
        return (await client.get("/metrics")).status_code


async def test_a_program_of_this_machine_may(open_api: OpenApi) -> None:
    """Prometheus on the same machine needs no secret, over IPv4 and IPv6."""
    async with open_api(host="0.0.0.0") as api:
        assert await status(api, "127.0.0.1") == 200
        assert await status(api, "::1") == 200


async def test_others_may_not(open_api: OpenApi) -> None:
    """Without a secret: 401, as a problem document."""
    async with open_api(host="0.0.0.0") as api, api.client(FAR) as client:
        answer = await client.get("/metrics")
        assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize(
    "header",
    [{"x_forwarded_for": FAR}, {"forwarded": f"for={FAR}"}, {"via": "1.1 proxy"}, {"x_real_ip": FAR}],
)
async def test_what_a_proxy_passes_on_is_not_from_here(open_api: OpenApi, header: dict[str, str]) -> None:
    """A proxy on the same machine has a local address, and its visitors come from anywhere."""
    async with open_api(host="0.0.0.0") as api:
        assert await status(api, "127.0.0.1", **header) == 401


async def test_a_name_from_elsewhere_is_not_from_here(open_api: OpenApi) -> None:
    """A web page can give its own name the address 127.0.0.1 and make the browser ask."""
    async with open_api(host="0.0.0.0") as api:
        assert await status(api, "127.0.0.1", host="rebound.example") == 401


async def test_the_token_lets_in(open_api: OpenApi) -> None:
    """From anywhere; a wrong one does not, and neither does an empty one where none is set."""
    async with open_api(host="0.0.0.0", metrics_token="a-long-secret") as api:
        assert await status(api, authorization="Bearer a-long-secret") == 200
        assert await status(api, authorization="Bearer a-long-secre") == 401
        assert await status(api, authorization="Bearer ") == 401
    async with open_api(host="0.0.0.0") as api:
        assert await status(api, authorization="Bearer ") == 401


async def test_the_operator_may(open_api: OpenApi) -> None:
    """An API key with the scope operator; a tenant's admin has nothing to look for here."""
    async with open_api(host="0.0.0.0", metrics_token="another-secret") as api:
        assert await status(api, x_api_key=await api.key("operator")) == 200
        assert await status(api, authorization=f"Bearer {await api.key('operator')}") == 200
        assert await status(api, x_api_key=await api.key("admin")) == 403


async def test_the_operator_names_addresses(open_api: OpenApi) -> None:
    """Instead of this machine's own."""
    async with open_api(host="0.0.0.0", metrics_from=("203.0.113.0/24",)) as api:
        assert await status(api, FAR) == 200
        assert await status(api, FAR, x_forwarded_for="198.51.100.1") == 401
        assert await status(api, "127.0.0.1") == 401
