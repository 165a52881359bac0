"""What pytest does at the end of a process."""

import sys


def pytest_sessionfinish():
    if "browser" in sys.modules:
        sys.modules["browser"].ends.close()
