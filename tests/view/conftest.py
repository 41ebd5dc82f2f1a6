"""One browser for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.view.browser import CHROMIUM, DRIVER, Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("pages are tested in a browser: apt-get install chromium chromium-driver")
    with Browser() as page:
        yield page
