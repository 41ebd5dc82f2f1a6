"""Write the generated parts of results.md anew: each stands between the comment that names its command and the next
``<!-- end -->``.

    python docs/update.py          # from the top of the repository
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from epic.cli import app

PAGE = Path(__file__).parent / "results.md"
PART = re.compile(r"<!-- epic (report .*?) -->\n.*?<!-- end -->", re.DOTALL)


def generated(match: re.Match[str]) -> str:
    done = CliRunner().invoke(app, shlex.split(match[1]))
    if done.exit_code:
        raise SystemExit(f"epic {match[1]} failed: {done.output}")
    return f"<!-- epic {match[1]} -->\n\n{done.stdout.strip()}\n\n<!-- end -->"


if __name__ == "__main__":
    PAGE.write_text(PART.sub(generated, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
