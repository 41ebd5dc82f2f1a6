"""Take the pictures of docs/pages.md: each kind of page at three widths, in a headless Chromium.

python docs/screenshots.py                  # MUTAG and PROTEINS from EPIC_DATA; needs chromium-driver and Pillow
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser import Browser

ROOT = Path(__file__).parents[1]
WIDTHS = (420, 1280, 1920)
TALLEST = 1400
"""Pictures of longer pages are cut here."""
SLIDE = "const s = document.getElementById('slider'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));"
DARK = "document.getElementById('theme').click();"
# Name of the picture, the command without --out, and what is done before it is taken.
PAGES = {
    "molecules": ("epic path MUTAG 3 40 --matching edges --others nodes,bfs", SLIDE, 9),
    "dark": ("epic path MUTAG 3 40 --matching edges --others nodes,bfs", SLIDE + DARK, 9),
    "graphs": ("epic path PROTEINS 3 40 --matching edges", SLIDE, 25),
    "gallery": ("epic gallery MUTAG --pairs 8", "", None),
    "report": (
        "epic reproduce main --datasets BZR --backbones gin --methods vanilla,drop_edge,drop_node,submix --seeds 3 "
        "--epochs 5 --tune 0 --results {folder}/short.jsonl",
        "",
        None,
    ),
}


def main() -> None:
    out = ROOT / "docs" / "images" / "pages"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for name, (command, script, step) in PAGES.items():
            page = Path(folder) / f"{name}.html"
            words = command.format(folder=folder).split()
            subprocess.run([*words, "--out", str(page)], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
            for width in WIDTHS if name != "dark" else (1280,):
                browser.open(page, width, 900)
                browser.run(script or "return", step)
                browser.screenshot(Path(folder) / "page.png")
                picture = Image.open(Path(folder) / "page.png").convert("RGB")
                picture = picture.crop((0, 0, picture.width, min(picture.height, TALLEST)))
                picture.quantize(256).save(out / f"{name}-{width}.png", optimize=True)


if __name__ == "__main__":
    main()
