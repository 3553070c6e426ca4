"""An implementation in Python's standard library alone, for tests of libfaketime.

DATABASE names an SQLite file that several processes may share, and CODE_LIFETIME_S makes codes live longer.
"""

import os
import re
import secrets
import sqlite3
import threading
import time

from front import Refused

CODE_LIFETIME_S = int(os.environ.get("CODE_LIFETIME_S", "600"))
ACCESS_LIFETIME_S = 3600
REFRESH_LIFETIME_S = 30 * 86400


class Stored:
    def __init__(self, clients):
        self.clients = {client["id"]: client for client in clients}
        self.lock = threading.Lock()
        file = os.environ.get("DATABASE", ":memory:")
        self.database = sqlite3.connect(file, timeout=30, isolation_level=None, check_same_thread=False)
        self.database.execute("PRAGMA synchronous=OFF")
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS issued (kind TEXT, value TEXT PRIMARY KEY, client_id TEXT, at_s REAL)"
        )

    def issue(self, kind, client_id):
        value = secrets.token_urlsafe(32)
        with self.lock:
            self.database.execute("INSERT INTO issued VALUES (?, ?, ?, ?)", (kind, value, client_id, time.time()))
        return value

    def find(self, kind, value):
        with self.lock:
            query = "SELECT client_id, at_s FROM issued WHERE kind = ? AND value = ?"
            return self.database.execute(query, (kind, value)).fetchone()

    def client(self, client_id):
        if client_id not in self.clients:
            raise Refused("clientId")
        return self.clients[client_id]

    def check(self, kind, value, client_id, lifetime_s):
        issued = self.find(kind, value)
        if issued is None or issued[0] != client_id or time.time() - issued[1] >= lifetime_s:
            raise Refused(kind)

    def authorize(self, client_id, state, redirect_uri):
        if not re.fullmatch(r"[a-zA-Z0-9]{1,128}", state):
            raise Refused("state")
        if self.client(client_id)["redirectUri"] != redirect_uri:
            raise Refused("redirectUri")
        return self.issue("code", client_id)

    def tokens(self, client_id):
        return {"accessToken": self.issue("access", client_id), "expiresIn": ACCESS_LIFETIME_S}

    def exchange(self, client_id, client_secret, code):
        if not secrets.compare_digest(self.client(client_id)["secret"].encode(), client_secret.encode()):
            raise Refused("clientSecret")
        self.check("code", code, client_id, CODE_LIFETIME_S)
        with self.lock:
            # Of several at once, in any process, one finds it.
            if self.database.execute("DELETE FROM issued WHERE value = ?", (code,)).rowcount != 1:
                raise Refused("code")
        return {**self.tokens(client_id), "refreshToken": self.issue("refresh", client_id)}, {}

    def refresh(self, client_id, refresh_token):
        self.client(client_id)
        self.check("refresh", refresh_token, client_id, REFRESH_LIFETIME_S)
        return self.tokens(client_id), {}

    def is_alive(self, access_token):
        issued = self.find("access", access_token)
        return issued is not None and time.time() - issued[1] < ACCESS_LIFETIME_S


engine = Stored
