"""Django's test runner, which prints the outcome of each test as outcomes.py does."""

from django.test.runner import DiscoverRunner
from outcomes import Result


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result
