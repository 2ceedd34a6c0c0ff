"""python -m bench.textbook --port N --database-url URL --redis-url URL"""

import argparse

import uvicorn

from bench.textbook.app import make_app


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database-url", required=True)
    parser.add_argument("--redis-url", required=True)
    asked = parser.parse_args()
    uvicorn.run(
        make_app(asked.database_url, asked.redis_url),
        host="127.0.0.1",
        port=asked.port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
