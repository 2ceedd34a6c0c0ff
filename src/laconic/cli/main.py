"""Temporary."""

import asyncio
import dataclasses
import sys
from pathlib import Path

from laconic.logs import set_up_logs
from laconic.serve.supervisor import Supervisor, listen
from laconic.settings import read_settings
from laconic.storage.engines import migrate
from laconic.storage.folder import claim_folder


def main() -> None:
    settings = read_settings(port=int(sys.argv[2]), data=sys.argv[3], workers=int(sys.argv[4]))
    set_up_logs("info", "text")
    claim_folder(Path(settings.data))
    asyncio.run(migrate(settings.effective_database_url))
    listeners = listen(settings.host, settings.port, settings.workers)
    port = listeners[0].getsockname()[1]
    settings = dataclasses.replace(settings, port=port, base_url=settings.base_url or f"http://localhost:{port}")
    sys.exit(Supervisor(settings, "all", listeners).run())
