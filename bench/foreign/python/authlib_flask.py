"""Authlib's authorization server for Flask, with its SQLAlchemy mixins, behind the document's calls.

Its codes live for five minutes, which no setting changes; a profile for it says so in `limits`.
"""

import json
import tempfile
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.integrations.sqla_oauth2 import (
    OAuth2AuthorizationCodeMixin,
    OAuth2ClientMixin,
    OAuth2TokenMixin,
    create_bearer_token_validator,
    create_query_client_func,
    create_save_token_func,
)
from authlib.oauth2.rfc6749 import OAuth2Error, grants
from flask import Flask
from sqlalchemy import Integer, create_engine, event
from sqlalchemy.orm import DeclarativeBase, mapped_column, scoped_session, sessionmaker

from front import FormEngine, Redirected, Refused

REFRESH_LIFETIME_S = 30 * 86400

folder = tempfile.TemporaryDirectory(prefix="foreign-authlib-")
database = create_engine(f"sqlite:///{folder.name}/db.sqlite3", connect_args={"timeout": 30})


@event.listens_for(database, "connect")
def quick(connection, _):
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")


session = scoped_session(sessionmaker(database))


class Base(DeclarativeBase):
    pass


class Owner:
    def get_user_id(self):
        return 1


owner = Owner()


class Client(Base, OAuth2ClientMixin):
    __tablename__ = "clients"
    id = mapped_column(Integer, primary_key=True)


class Code(Base, OAuth2AuthorizationCodeMixin):
    __tablename__ = "codes"
    id = mapped_column(Integer, primary_key=True)
    user_id = mapped_column(Integer)


class Token(Base, OAuth2TokenMixin):
    __tablename__ = "tokens"
    id = mapped_column(Integer, primary_key=True)
    user_id = mapped_column(Integer)

    # As the library's guide has it; how long refresh tokens live is the user's to say.
    def is_refresh_token_active(self):
        return not self.refresh_token_revoked_at and time.time() < self.issued_at + REFRESH_LIFETIME_S


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]

    def save_authorization_code(self, code, request):
        session.add(
            Code(
                code=code,
                client_id=request.client.client_id,
                redirect_uri=request.payload.redirect_uri,
                scope=request.payload.scope,
                user_id=request.user.get_user_id(),
            )
        )
        session.commit()

    def query_authorization_code(self, code, client):
        item = session.query(Code).filter_by(code=code, client_id=client.client_id).first()
        return item if item and not item.is_expired() else None

    def delete_authorization_code(self, authorization_code):
        session.delete(authorization_code)
        session.commit()

    def authenticate_user(self, _authorization_code):
        return owner


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]
    INCLUDE_NEW_REFRESH_TOKEN = False

    def authenticate_refresh_token(self, refresh_token):
        item = session.query(Token).filter_by(refresh_token=refresh_token).first()
        return item if item and item.is_refresh_token_active() else None

    def authenticate_user(self, _refresh_token):
        return owner

    def revoke_old_credential(self, _refresh_token):
        """The document's refresh token is used again and again."""


class AuthlibFlask(FormEngine):
    def __init__(self, clients):
        Base.metadata.create_all(database)
        self.clients = {client["id"]: client for client in clients}
        for one in clients:
            client = Client(client_id=one["id"], client_secret=one["secret"], client_id_issued_at=int(time.time()))
            client.set_client_metadata(
                {
                    "redirect_uris": [one["redirectUri"]],
                    "grant_types": ["authorization_code", "refresh_token"],
                    "response_types": ["code"],
                    "token_endpoint_auth_method": "client_secret_post",
                    "scope": "",
                }
            )
            session.add(client)
        session.commit()
        self.app = Flask("authlib")
        self.app.config.update(
            OAUTH2_REFRESH_TOKEN_GENERATOR=True,
            OAUTH2_TOKEN_EXPIRES_IN={"authorization_code": 3600, "refresh_token": 3600},
        )
        self.server = AuthorizationServer(
            self.app, create_query_client_func(session, Client), create_save_token_func(session, Token)
        )
        self.server.register_grant(CodeGrant)
        self.server.register_grant(RefreshGrant)
        self.protector = ResourceProtector()
        self.protector.register_token_validator(create_bearer_token_validator(session, Token)())

    def authorize(self, client_id, state, redirect_uri):
        query = {"response_type": "code", "client_id": client_id, "state": state, "redirect_uri": redirect_uri}
        with self.app.test_request_context("/authorize", query_string=query):
            try:
                grant = self.server.get_consent_grant(end_user=owner)
                answer = self.server.create_authorization_response(grant_user=owner, grant=grant)
            except OAuth2Error as error:
                raise Refused(error.error, error.status_code) from error
            finally:
                session.remove()
        if answer.location is None:
            raise Refused("invalid_request", answer.status_code)
        raise Redirected(answer.location)

    def token(self, **form):
        with self.app.test_request_context("/token", method="POST", data=form):
            try:
                answer = self.server.create_token_response()
            finally:
                session.remove()
        body = json.loads(answer.get_data())
        if answer.status_code != 200:
            raise Refused(body.get("error"), answer.status_code)
        return body, answer.headers

    def is_alive(self, access_token):
        headers = {"Authorization": f"Bearer {access_token}"}
        with self.app.test_request_context("/resource", headers=headers):
            try:
                return self.protector.acquire_token() is not None
            except OAuth2Error:
                return False
            finally:
                session.remove()


engine = AuthlibFlask
