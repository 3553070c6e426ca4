"""Django with the settings that django-oauth-toolkit needs."""

import tempfile

import django
from django.conf import settings

folder = tempfile.TemporaryDirectory(prefix="foreign-django-")


def configure(*apps, **more):
    """Once, before anything of Django is imported; `apps` are installed beside the toolkit."""
    settings.configure(
        SECRET_KEY="only for tests",
        ALLOWED_HOSTS=["*"],
        USE_TZ=True,
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider", *apps],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": f"{folder.name}/db.sqlite3",
                "OPTIONS": {
                    "timeout": 30,
                    "transaction_mode": "IMMEDIATE",
                    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;",
                },
            }
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        OAUTH2_PROVIDER={
            "AUTHORIZATION_CODE_EXPIRE_SECONDS": 600,
            "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
            "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 86400,
            "ROTATE_REFRESH_TOKEN": False,
            "PKCE_REQUIRED": False,
        },
        **more,
    )
    django.setup()
