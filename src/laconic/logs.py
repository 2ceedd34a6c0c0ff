"""How the program speaks to its operator: one event a line, as text or as JSON, on standard error."""

import logging
import sys
from typing import Any

import structlog


def set_up_logs(level: str, form: str) -> None:
    """Called once in each process."""
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: Any
    if form == "json":
        shared.append(structlog.processors.format_exc_info)
        last = structlog.processors.JSONRenderer()
    else:
        # The default draws exceptions with the values of local variables: slow, and full of secrets.
        plain = structlog.dev.plain_traceback
        last = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=last, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # uvicorn tells of every start and stop in words of its own; ours say it once.
    logging.getLogger("uvicorn").setLevel("WARNING")
    # The client that talks to an identity provider would log every address it asks, codes and all.
    for name in ("httpx", "httpcore", "httpx2", "authlib"):
        logging.getLogger(name).setLevel("WARNING")
