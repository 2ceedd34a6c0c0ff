"""The least that a redirect costs in the framework: no look-up, no click, nothing but the route."""

import argparse

import uvicorn
from fastapi import FastAPI
from fastapi.responses import RedirectResponse

app = FastAPI(openapi_url=None)


@app.get("/{code}")
async def redirect(code: str) -> RedirectResponse:
    return RedirectResponse("https://example.com/articles/000000000001", 302)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
