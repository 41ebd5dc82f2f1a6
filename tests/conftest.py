"""Where real data lies, and both ways of what numba compiles."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from epic._kernels import backend
from tests.browser import CHROMIUM, DRIVER, Browser

if os.environ.get("EPIC_NO_NUMBA"):
    sys.modules["numba"] = None  # as if it were not installed

# Tests run side by side, and start processes of their own: more threads would only be in each other's way.
torch.set_num_threads(1)
torch.set_warn_always(True)  # or a warning would be an error in the first test that causes it only
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("machine", deadline=None)  # a busy machine is no reason to fail
settings.load_profile("machine")


@pytest.fixture(scope="session")
def tu_folder() -> Path:
    """The folder of TUDataset files, or a skip that says how to have it."""
    root = os.environ.get("EPIC_DATA")
    if not root or not (Path(root) / "tu").is_dir():
        pytest.skip("set EPIC_DATA to a folder with tu/<NAME>/raw/<NAME>_*.txt to test on real data")
    return Path(root) / "tu"


@contextmanager
def without_numba():
    """As if it were not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EPIC_NO_NUMBA", "1")
        yield


@pytest.fixture(params=["with numba", "without numba"])
def both_ways(request):
    """Runs a test twice."""
    if request.param == "with numba":
        if not backend.enabled():
            pytest.skip("needs numba: pip install 'epic-graph[fast]', and do not set EPIC_NO_NUMBA")
        yield
    else:
        with without_numba():
            yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of pages."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("pages are tested in a browser: apt-get install chromium chromium-driver")
    with Browser() as page:
        yield page
