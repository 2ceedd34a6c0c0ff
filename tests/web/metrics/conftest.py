"""The application as the API's tests have it."""

from tests.web.api.conftest import api, open_api, open_every_api

__all__ = ["api", "open_api", "open_every_api"]
