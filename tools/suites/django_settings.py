"""Settings for the tests of Django itself, on the server that MYSQL_HOST and its like name, or else
PGHOST and its like."""

import os

if "MYSQL_HOST" in os.environ:
    SERVER = {
        "ENGINE": "django.db.backends.mysql",
        "HOST": os.environ["MYSQL_HOST"],
        "PORT": os.environ["MYSQL_TCP_PORT"],
        "USER": "cupel",
    }
    TEST = {"CHARSET": "utf8mb4"}  # a server without Debian's configuration has latin1
else:
    SERVER = {"ENGINE": "django.db.backends.postgresql"}
    TEST = {}
DATABASES = {
    alias: {**SERVER, "NAME": name, "TEST": {**TEST, "NAME": f"test_{name}"}}
    for alias, name in (("default", "first"), ("other", "second"))
}
SECRET_KEY = "of no use here"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_runner.Runner"
