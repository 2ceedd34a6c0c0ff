"""How the program speaks to its operator: one event a line, as text or as JSON, on standard error."""

import logging
import sys
import threading
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being answered: in its answer, and in every line that is logged meanwhile."""

log = structlog.get_logger(__name__)


def set_up_logs(level: str, form: str, process: str = "") -> None:
    """Called once in each process. `process` is its name among those of one server, and stands in each of its lines."""

    def add_process(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if process:
            event.setdefault("process", process)
        return event

    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_request_id,
        add_process,
    ]
    last: Any
    if form == "json":
        shared += [structlog.processors.StackInfoRenderer(), structlog.processors.format_exc_info]
        last = structlog.processors.JSONRenderer()
    else:
        # The default draws exceptions with the values of local variables: slow, and full of secrets.
        plain = structlog.dev.plain_traceback
        last = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        # What is not to be seen costs nothing: every answer would be told in a line that is thrown away.
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=last, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # Commands keep it silent.
    logging.getLogger("asyncio").setLevel(logging.NOTSET)
    # uvicorn tells of every start and stop in words of its own; ours say it once.
    logging.getLogger("uvicorn").setLevel("WARNING")
    # The client that talks to an identity provider would log every address it asks, codes and all.
    for name in ("httpx", "httpcore", "httpx2", "authlib"):
        logging.getLogger(name).setLevel("WARNING")
    if form == "json":
        _catch_what_python_prints()


def _add_request_id(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    request_id = REQUEST_ID.get()
    if request_id:
        event["request_id"] = request_id
    return event


def _catch_what_python_prints() -> None:
    """Warnings and exceptions that nobody has caught would be several lines of plain text."""
    logging.captureWarnings(True)

    def uncaught(kind: Any, error: Any, trace: Any) -> None:
        log.critical("unexpected error", exc_info=(kind, error, trace))

    def in_thread(raised: threading.ExceptHookArgs) -> None:
        if raised.exc_type is not SystemExit:
            uncaught(raised.exc_type, raised.exc_value, raised.exc_traceback)

    def unraisable(raised: Any) -> None:
        message = raised.err_msg or "an error that nobody could catch"
        log.error(message, exc_info=(raised.exc_type, raised.exc_value, raised.exc_traceback))

    sys.excepthook = uncaught
    threading.excepthook = in_thread
    sys.unraisablehook = unraisable
