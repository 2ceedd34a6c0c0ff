"""Words for the OpenAPI document about bodies that the handlers read themselves."""

from typing import Any

from pydantic import BaseModel

_TITLES = {
    400: "Refused",
    401: "No or bad credentials",
    403: "A scope is missing",
    404: "Unknown, or another tenant's",
    409: "The code is taken",
    410: "Deleted",
    413: "Too long",
    415: "Not JSON",
    422: "Wrong shape",
    429: "Too many requests",
    503: "Not available now",
}


class ProblemDocument(BaseModel):
    """RFC 9457; `code` is stable."""

    type: str
    title: str
    status: int
    detail: str
    code: str


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route. 429 and 503 can come from all of them, 403 from whatever asks who is calling,
    and 413 from whatever reads a body."""
    content = {"application/problem+json": {"schema": ProblemDocument.model_json_schema()}}
    asks = (403,) if 401 in statuses else ()
    reads = (413,) if 415 in statuses else ()
    told = sorted({*statuses, *asks, *reads, 429, 503})
    return {status: {"description": _TITLES[status], "content": content} for status in told}


def body_of(*models: type[BaseModel], media_type: str = "application/json") -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": _whole_schema(models[0])}}}}


def _whole_schema(model: type[BaseModel]) -> dict[str, Any]:
    """With what it refers to written out in its place: these schemas are not among the document's components."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).removeprefix("#/$defs/")
            return resolve(parts[name]) if name in parts else {key: resolve(one) for key, one in node.items()}
        return [resolve(one) for one in node] if isinstance(node, list) else node

    whole: dict[str, Any] = resolve(schema)
    return whole
