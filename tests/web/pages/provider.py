"""A small OpenID Connect provider: real HTTP, real keys, and it insists on PKCE."""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT_ID, CLIENT_SECRET = "laconic-test", "planted-client-secret"


class Provider:
    """Signs in whomever `person` describes, without asking."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {"sub": "1", "email": "ann@example.com", "email_verified": True}
        self.claims: dict[str, Any] = {}
        self.key = RSAKey.generate_key(2048, {"kid": "one"})
        self.signing_key = self.key
        self.codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT_ID
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if authorization != f"Basic {expected}" or asked is None or asked["code_challenge"] != challenge:
            return 400, {"error": "invalid_grant"}
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "nonce": asked["nonce"],
            "iat": int(time.time()),
            "exp": int(time.time()) + 60,
            **self.person,
            **self.claims,
        }
        id_token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.signing_key)
        return 200, {"access_token": "at", "token_type": "Bearer", "id_token": id_token}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path == "/authorize":
                    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                    self.send_response(302)
                    self.send_header("location", provider.authorize(query))
                    self.end_headers()
                elif parts.path == "/keys":
                    self._json(200, KeySet([provider.key]).as_dict(private=False))
                else:
                    self._json(200, provider.metadata())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self._json(*provider.token(form, self.headers.get("authorization", "")))

            def _json(self, status: int, document: Any) -> None:
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        return Handler
