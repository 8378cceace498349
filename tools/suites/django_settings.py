"""Settings for the tests of Django itself, on the server that PGHOST and its like name."""

DATABASES = {
    alias: {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "TEST": {"NAME": f"test_{name}"},
    }
    for alias, name in (("default", "first"), ("other", "second"))
}
SECRET_KEY = "of no use here"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_runner.Runner"
