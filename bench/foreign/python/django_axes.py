"""django-oauth-toolkit whose token endpoint django-axes guards: it locks a client out after failed requests."""

from datetime import timedelta

from django_configured import configure

FAILURES = 10
LOCKED = timedelta(seconds=10)

configure(
    "axes",
    AUTHENTICATION_BACKENDS=["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"],
    AXES_FAILURE_LIMIT=FAILURES,
    AXES_COOLOFF_TIME=LOCKED,
    AXES_LOCKOUT_PARAMETERS=["username"],
    AXES_RESET_ON_SUCCESS=True,
    AXES_VERBOSE=False,
)

from axes.handlers.proxy import AxesProxyHandler  # noqa: E402
from axes.helpers import get_lockout_response  # noqa: E402
from axes.utils import reset  # noqa: E402
from django.contrib.auth.signals import user_login_failed  # noqa: E402
from django.db import connection  # noqa: E402

from django_toolkit import DjangoToolkit  # noqa: E402
from front import Refused  # noqa: E402


class Guarded(DjangoToolkit):
    def token(self, **form):
        request = self.requests.post("/token", form)
        credentials = {"username": form["client_id"]}
        try:
            if not AxesProxyHandler.is_allowed(request, credentials):
                raise Refused("locked out", get_lockout_response(request, credentials).status_code)
            try:
                granted = super().token(**form)
            except Refused:
                user_login_failed.send(sender=__name__, credentials=credentials, request=request)
                raise
            reset(username=form["client_id"])
            return granted
        finally:
            connection.close()


engine = Guarded
