"""What a workspace has chosen, and what holds of it."""

from typing import Any

from laconic.clock import DAY
from tests.web.api.opened import OpenApi

_DEFAULT = "/api/v1/workspaces/1"


async def test_in_effect_is_the_stricter_of_the_two(open_every_api: OpenApi) -> None:
    """A workspace may keep less than the installation, never more; its choice is shown beside what holds."""
    installation: dict[str, Any] = {"privacy": "truncate", "click_retention": 100 * DAY}
    async with (
        open_every_api(host="0.0.0.0", **installation) as api,
        api.client(x_api_key=await api.key("admin")) as client,
    ):
        shown = (await client.get(_DEFAULT)).json()
        assert shown["in_effect"] == {"privacy": "truncate", "click_retention_days": 100}
        assert (shown["settings"]["privacy"], shown["settings"]["click_retention_days"]) == (None, None)
        for chosen, days, privacy, holding_days in (
            ("none", 7, "none", 7),
            ("full", 400, "truncate", 100),
            ("truncate", 100, "truncate", 100),
            (None, None, "truncate", 100),
        ):
            settings = {"privacy": chosen, "click_retention_days": days}
            edited = await client.patch(_DEFAULT, json={"settings": settings})
            assert edited.status_code == 200, edited.text
            for answer in (edited.json(), (await client.get("/api/v1/me")).json()["workspace"]):
                assert settings.items() <= answer["settings"].items()
                assert answer["in_effect"] == {
                    "privacy": privacy,
                    "click_retention_days": holding_days,
                }


async def test_a_choice_outlives_a_change_of_the_installation(open_every_api: OpenApi) -> None:
    """What was too much to hold is remembered, and holds once the operator allows it."""
    async with (
        open_every_api(host="0.0.0.0", privacy="none") as api,
        api.client(x_api_key=await api.key("admin")) as client,
    ):
        answer = await client.patch(_DEFAULT, json={"settings": {"privacy": "truncate"}})
        assert answer.json()["in_effect"]["privacy"] == "none"
    async with (
        open_every_api(host="0.0.0.0", privacy="full") as api,
        api.client(x_api_key=await api.key("admin")) as client,
    ):
        shown = (await client.get(_DEFAULT)).json()
        assert (shown["settings"]["privacy"], shown["in_effect"]["privacy"]) == ("truncate", "truncate")
