"""An implementation in Python's standard library alone, for tests of libfaketime: CODE_LIFETIME_S makes its codes live longer."""

import os
import re
import secrets
import threading
import time

from front import Refused

CODE_LIFETIME_S = int(os.environ.get("CODE_LIFETIME_S", "600"))
ACCESS_LIFETIME_S = 3600
REFRESH_LIFETIME_S = 30 * 86400


class Memory:
    def __init__(self, clients):
        self.clients = {client["id"]: client for client in clients}
        self.lock = threading.Lock()
        self.codes, self.access, self.refreshes = {}, {}, {}

    def issue(self, store, client_id):
        value = secrets.token_urlsafe(32)
        store[value] = (client_id, time.time())
        return value

    def client(self, client_id):
        if client_id not in self.clients:
            raise Refused("clientId")
        return self.clients[client_id]

    @staticmethod
    def check(issued, client_id, lifetime_s, name):
        if issued is None or issued[0] != client_id or time.time() - issued[1] >= lifetime_s:
            raise Refused(name)

    def authorize(self, client_id, state, redirect_uri):
        if not re.fullmatch(r"[a-zA-Z0-9]{1,128}", state):
            raise Refused("state")
        if self.client(client_id)["redirectUri"] != redirect_uri:
            raise Refused("redirectUri")
        return self.issue(self.codes, client_id)

    def tokens(self, client_id):
        return {"accessToken": self.issue(self.access, client_id), "expiresIn": ACCESS_LIFETIME_S}

    def exchange(self, client_id, client_secret, code):
        if not secrets.compare_digest(self.client(client_id)["secret"].encode(), client_secret.encode()):
            raise Refused("clientSecret")
        with self.lock:
            self.check(self.codes.get(code), client_id, CODE_LIFETIME_S, "code")
            del self.codes[code]
            return {**self.tokens(client_id), "refreshToken": self.issue(self.refreshes, client_id)}, {}

    def refresh(self, client_id, refresh_token):
        self.client(client_id)
        with self.lock:
            self.check(self.refreshes.get(refresh_token), client_id, REFRESH_LIFETIME_S, "refreshToken")
            return self.tokens(client_id), {}

    def is_alive(self, access_token):
        issued = self.access.get(access_token)
        return issued is not None and time.time() - issued[1] < ACCESS_LIFETIME_S


engine = Memory
