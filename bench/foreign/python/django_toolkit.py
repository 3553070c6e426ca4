"""django-oauth-toolkit behind the document's calls: its models, its validator and its views decide everything."""

import json

from django.conf import settings

from django_configured import configure

if not settings.configured:
    configure()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import RequestFactory  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402
from oauth2_provider.oauth2_backends import get_oauthlib_core  # noqa: E402
from oauth2_provider.views import AuthorizationView, TokenView  # noqa: E402

from front import FormEngine, Redirected, Refused  # noqa: E402


class DjangoToolkit(FormEngine):
    def __init__(self, clients):
        call_command("migrate", verbosity=0)
        self.owner = User.objects.create(username="owner")
        self.clients = {client["id"]: client for client in clients}
        self.requests = RequestFactory()
        for client in clients:
            Application.objects.create(
                client_id=client["id"],
                client_secret=client["secret"],
                redirect_uris=client["redirectUri"],
                client_type=Application.CLIENT_CONFIDENTIAL,
                authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
                skip_authorization=True,
                user=self.owner,
            )

    def authorize(self, client_id, state, redirect_uri):
        query = {"response_type": "code", "client_id": client_id, "state": state, "redirect_uri": redirect_uri}
        request = self.requests.get("/authorize", query)
        request.user = self.owner
        answer = AuthorizationView.as_view()(request)
        location = answer.headers.get("Location")
        connection.close()
        if location is None:
            raise Refused("invalid_request", answer.status_code)
        raise Redirected(location)

    def token(self, **form):
        answer = TokenView.as_view()(self.requests.post("/token", form))
        connection.close()
        body = json.loads(answer.content)
        if answer.status_code != 200:
            raise Refused(body.get("error"), answer.status_code)
        return body, answer.headers

    def is_alive(self, access_token):
        request = self.requests.get("/resource", headers={"Authorization": f"Bearer {access_token}"})
        valid, _ = get_oauthlib_core().verify_request(request, scopes=[])
        connection.close()
        return valid


engine = DjangoToolkit
