"""The document's four calls over HTTP, in front of an OAuth implementation that is named on the command line.

    python3 front.py MODULE CLIENTS_FILE

MODULE has a function `engine(clients)`, whose result has the methods that Engine names below. CLIENTS_FILE is a JSON array
of { id, secret, redirectUri }. There is no test hook for the clock: under libfaketime everything ages by the file. Prints
one line of JSON with the address once it listens, and ends when its standard input does.
"""

import importlib
import json
import sys
import threading
import time
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol
from urllib.parse import parse_qs, urlsplit


class Refused(Exception):
    """What the implementation said no to, with its own status."""

    def __init__(self, reason, status=400):
        super().__init__(reason)
        self.status = status


class Redirected(Exception):
    """The implementation answers authorize by sending the browser on."""

    def __init__(self, location):
        super().__init__(location)
        self.location = location


class Engine(Protocol):
    def authorize(self, client_id, state, redirect_uri):
        """A code; raises Refused, or Redirected where the library redirects by itself."""

    def exchange(self, client_id, client_secret, code):
        """{ accessToken, refreshToken, expiresIn } and the headers that the library gives; raises Refused."""

    def refresh(self, client_id, refresh_token):
        """{ accessToken, expiresIn } and the headers that the library gives; raises Refused."""

    def is_alive(self, access_token):
        """Whether the access token opens what it protects."""


class FormEngine:
    """An engine whose library takes forms, as RFC 6749 has them: `token(**form)` gives its answer and headers.

    `clients` maps client ids to what CLIENTS_FILE says of them. The document's exchange carries no redirect URI and its
    refresh no secret; a library that asks for them gets those of the client.
    """

    def of(self, client_id, name):
        return self.clients.get(client_id, {}).get(name, "")

    def exchange(self, client_id, client_secret, code):
        body, headers = self.token(
            grant_type="authorization_code",
            client_id=client_id,
            client_secret=client_secret,
            code=code,
            redirect_uri=self.of(client_id, "redirectUri"),
        )
        return {
            "accessToken": body["access_token"],
            "refreshToken": body["refresh_token"],
            "expiresIn": body["expires_in"],
        }, headers

    def refresh(self, client_id, refresh_token):
        body, headers = self.token(
            grant_type="refresh_token",
            client_id=client_id,
            client_secret=self.of(client_id, "secret"),
            refresh_token=refresh_token,
        )
        return {"accessToken": body["access_token"], "expiresIn": body["expires_in"]}, headers


def now_ms():
    return int(time.time() * 1000)


def one(query, name):
    values = query.get(name, [])
    if len(values) != 1:
        raise Refused(f"{name} has to be given once")
    return values[0]


def text(body, name):
    value = body.get(name)
    if not isinstance(value, str):
        raise Refused(f"{name} has to be a string")
    return value


class Notifications:
    def __init__(self):
        self.items = []

    def add(self, account_id):
        created = datetime.fromtimestamp(time.time(), timezone.utc).isoformat(timespec="milliseconds")
        item = {
            "id": str(uuid.uuid4()),
            "accountId": account_id,
            "createTime": created.replace("+00:00", "Z"),
            "businessType": "CreateGlobalAccount",
            "businessStatus": "Passed",
            "remark": "",
            "data": "",
            "status": "readed",
        }
        self.items.append(item)
        return {"id": item["id"]}

    def page(self, query):
        limit, page = int(query.get("limit", ["10"])[0]), int(query.get("page", ["0"])[0])
        if limit < 1 or page < 0:
            raise Refused("paging")
        matching = [
            item
            for item in list(self.items)
            if all(item[name] == query[name][0] for name in ("id", "accountId") if name in query)
        ]
        return {"data": matching[page * limit : (page + 1) * limit], "total": len(matching)}


def routes_for(engine, notifications):
    def authorize(query, _body, _headers):
        state = one(query, "state")
        code = engine.authorize(one(query, "clientId"), state, one(query, "redirectUri"))
        return {"timestamp": now_ms(), "state": state, "code": code}, {}

    def exchange(_query, body, _headers):
        tokens, told = engine.exchange(text(body, "clientId"), text(body, "clientSecret"), text(body, "code"))
        return {**tokens, "timestamp": now_ms()}, told

    def refresh(_query, body, _headers):
        tokens, told = engine.refresh(text(body, "clientId"), text(body, "refreshToken"))
        return {**tokens, "timestamp": now_ms()}, told

    def listed(query, _body, headers):
        if not engine.is_alive(headers.get("x-service-access-token") or ""):
            raise Refused("access token", 401)
        return notifications.page(query), {}

    return {
        ("GET", "/open-api/oauth/authorize"): authorize,
        ("POST", "/open-api/oauth/access-token"): exchange,
        ("POST", "/open-api/oauth/refresh-token"): refresh,
        ("GET", "/open-api/v1/notifications"): listed,
        ("POST", "/test/events"): lambda _query, body, _headers: (notifications.add(text(body, "accountId")), {}),
    }


def object_of(raw):
    body = json.loads(raw)
    if not isinstance(body, dict):
        raise Refused("the body has to be an object")
    return body


def handler_for(routes):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, status, value, headers={}):
            data = json.dumps(value).encode()
            self.send_response(status)
            for name in ("Cache-Control", "Pragma", "Location"):
                if name in headers:
                    self.send_header(name, headers[name])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def answer(self):
            url = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or "0"))
            route = routes.get((self.command, url.path))
            if route is None:
                return self.reply(404, {"error": "not_found"})
            try:
                query = parse_qs(url.query, keep_blank_values=True, errors="strict")
                body = object_of(raw) if self.command == "POST" else {}
                value, told = route(query, body, self.headers)
                return self.reply(200, value, told)
            except Redirected as sent_on:
                return self.reply(302, {}, {"Location": sent_on.location})
            except Refused as refusal:
                return self.reply(refusal.status, {"error": str(refusal)})
            except (ValueError, RecursionError):
                return self.reply(400, {"error": "invalid_request"})
            except ConnectionError:
                self.close_connection = True
            except Exception as error:
                # As a server for production has it: the implementation failed, and its client is told no more.
                return self.reply(500, {"error": type(error).__name__})

        do_GET = do_POST = answer

        def log_message(self, *_):
            pass

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hung up is no error worth a trace."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main():
    module, clients_file = sys.argv[1:3]
    with open(clients_file, encoding="utf8") as file:
        clients = json.load(file)
    engine = importlib.import_module(module).engine(clients)
    server = Server(("127.0.0.1", 0), handler_for(routes_for(engine, Notifications())))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"baseUrl": f"http://127.0.0.1:{server.server_address[1]}"}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    # The modules import Refused from "front", which has to be this very module.
    sys.modules["front"] = sys.modules["__main__"]
    main()
