"""Turns the pages of the list of links, 1,000 at a time, one after the other until the time is up."""

import argparse
import http.client
import json
import time


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    asked = parser.parse_args()
    connection = http.client.HTTPConnection("127.0.0.1", asked.port, timeout=60)
    until = time.monotonic() + asked.seconds
    pages, bad, cursor = 0, 0, None
    while time.monotonic() < until:
        connection.request("GET", "/api/v1/urls?limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        response = connection.getresponse()
        body = response.read()
        pages += 1
        bad += response.status != 200
        cursor = json.loads(body).get("next_cursor")
    connection.close()
    print(json.dumps({"pages": pages, "bad": bad}))


if __name__ == "__main__":
    main()
