"""Graphs to test with, and where real data lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tu_folder() -> Path:
    """The folder of TUDataset files, or a skip that says how to have it."""
    root = os.environ.get("EPIC_DATA")
    if not root or not (Path(root) / "tu").is_dir():
        pytest.skip("set EPIC_DATA to a folder with tu/<NAME>/raw/<NAME>_*.txt to test on real data")
    return Path(root) / "tu"
