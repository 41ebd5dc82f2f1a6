"""Parts of pages that are made from the package itself, as Markdown. This file knows nothing of Sphinx."""

from __future__ import annotations

import ast
import re
from html import escape
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from typer.testing import CliRunner

from epic.augment import METHODS, Vanilla
from epic.cli.verbs import VERBS, app
from epic.train.config import CostConfig, RunConfig, default_settings

ROOT = Path(__file__).parents[2]


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    cells = [head, ["---"] * len(head), *([c.replace("|", "\\|").replace("\n", " ") for c in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells) + "\n"


def methods() -> str:
    """Return the facts about all methods, and below them their settings, from the registry."""
    facts = [
        [f"`{name}`", p.info.changes, p.info.needs, p.info.label, p.info.edge_attr, p.info.cost]
        for name, p in METHODS.items()
    ]
    text = table(["method", "changes", "needs", "label", "edge attributes", "where time goes"], facts)
    for name, preset in METHODS.items():
        rows = [
            [f"`{n}`", f"`{v!r}`", ", ".join(map(str, preset.params[n].choices)) or "-", preset.params[n].help or ""]
            for n, v in default_settings(name).items()
        ]
        fixed = "".join(f" It fixes `{n}={v!r}`." for n, v in preset.fixed.items())
        paper = "Plain training" if preset.cls is Vanilla else preset.info.paper
        text += f"\n## {name}\n\n{{py:class}}`{_reference(preset.cls)}`. {paper}.{fixed}\n\n"
        text += table(["setting", "default", "tuning tries", "what it is"], rows) if rows else "It has no settings.\n"
    return text


def _reference(cls: type) -> str:
    return "epic.EPIC" if cls.__name__ == "EPIC" else f"epic.augment.{cls.__name__}"


def commands() -> str:
    """Return what every command says of itself: its help, as ``epic COMMAND --help`` prints it."""
    text = ""
    for panel, verbs in VERBS.items():
        text += f"\n## {panel}\n"
        for verb in verbs:
            name = verb.__name__
            text += f"\n### epic {name}\n\n```text\n{help_text(name)}\n```\n"
    return text


def help_text(*command: str) -> str:
    """Return the help of a command, without colours, 88 columns wide."""
    env = {"COLUMNS": "88", "TERMINAL_WIDTH": "88", "NO_COLOR": "1"}
    done = CliRunner().invoke(app, [*command, "--help"], prog_name="epic", env=env)
    if done.exit_code:
        raise RuntimeError(f"epic {' '.join(command)} --help failed: {done.output}")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", done.output)
    return "\n".join(line.rstrip() for line in plain.strip("\n").splitlines())


def config() -> str:
    """Return the fields of the two models that a config file is checked against."""
    return "\n".join(
        f"\n## {title}\n\n{_fields(model)}" for title, model in (("A run", RunConfig), ("`cost`: its cost", CostConfig))
    )


def _fields(model: type[BaseModel]) -> str:
    rows = []
    for name, field in model.model_fields.items():
        default: Any = field.default
        shown = (
            "required" if field.is_required() else "see below" if isinstance(default, BaseModel) else f"`{default!r}`"
        )
        rows.append([f"`{name}`", shown, field.description or ""])
    return table(["field", "default", "what it is"], rows)


ROOMS = {
    "_checkpoint.py": "Going on after a stop",
    "_io.py": "Reading and writing files",
    "augment/": "Augmentation",
    "classifiers/": "Neighbours, kernels and mixtures",
    "cli/": "The command line",
    "compare/": "Comparing methods, and stored results",
    "costs/": "Costs and learning them",
    "data/": "Datasets, molecules and files of graphs",
    "distance/": "Distances",
    "errors.py": "Names and numbers",
    "graphs/": "PyG graphs and batches",
    "labels.py": "Labels",
    "matching/": "Matching",
    "networkx.py": "networkx graphs",
    "nn/": "Networks and their training",
    "paper/": "The paper's tables and figures",
    "parallel/": "Processes and Ray",
    "paths/": "Edit paths and counterfactuals",
    "random.py": "Seeds",
    "train/": "Training and networks of your own",
    "view/": "Pictures and pages",
}
"""What someone who meets a message of a room was doing."""


def errors() -> str:
    """Return the messages of all input errors that the package raises, by what one was doing, values as dots."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src" / "epic").rglob("*.py")):
        place = path.relative_to(ROOT / "src" / "epic")
        room = f"{place.parts[0]}/" if len(place.parts) > 1 else place.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "InputError" and node.args:
                text = _words(node.args[0])
                if len(re.findall(r"[a-z]{2,}", text)) > 1 and text not in found.setdefault(room, []):
                    found[room].append(text)
    return "".join(
        f"\n### {ROOMS[room]}\n\n" + "".join(f"- {_verbatim(t)}\n" for t in texts)
        for room, texts in sorted(found.items(), key=lambda item: ROOMS[item[0]])
        if texts
    )


def _words(message: ast.expr) -> str:
    """Return what a message always says, and dots for the rest."""
    if isinstance(message, ast.Constant):
        return str(message.value)
    if isinstance(message, ast.JoinedStr):
        return "".join(_words(part) for part in message.values)
    if isinstance(message, ast.BinOp):
        return _words(message.left) + _words(message.right)
    return "…"


def _verbatim(text: str) -> str:
    """Return a text as Markdown shows it letter by letter."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return fence + space + " ".join(text.split()) + space + fence


def layers() -> list[list[str]]:
    """Return the rooms from top to bottom as the import-linter contract has them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")  # tomllib came with Python 3.11
    contract = re.search(r'id = "rooms".*?\nlayers = \[\n(.*?)\n\]', text, re.DOTALL)
    if contract is None:
        raise ValueError("pyproject.toml has no contract `rooms` with layers")
    return [re.findall(r"\w+", line) for line in re.findall(r'"([^"]+)"', contract[1])]


def rooms() -> str:
    """Draw the rooms as SVG: who stands higher may import who stands lower, never the other way."""
    high, width, gap = 26, 560, 10
    drawn, rows = [], layers()
    for row, names in enumerate(rows):
        each = (width - gap * (len(names) - 1)) / len(names)
        for place, name in enumerate(names):
            x, y = place * (each + gap), row * (high + 8)
            drawn.append(f'<rect x="{x + 1:.0f}" y="{y + 1}" width="{each - 2:.0f}" height="{high}" rx="4"/>')
            drawn.append(f'<text x="{x + each / 2:.0f}" y="{y + 19}">{escape(name)}</text>')
    tall = len(rows) * (high + 8)
    shaft = f'<path class="arrow" d="M {width + 22} 6 V {tall - 14} m -6 -9 l 6 9 l 6 -9" fill="none"/>'
    label = "Rooms from top to bottom: " + "; ".join(", ".join(names) for names in rows)
    return (
        f'<svg class="rooms" viewBox="0 0 {width + 40} {tall}" width="{width + 40}" role="img" '
        f'aria-label="{escape(label)}">{shaft}{"".join(drawn)}</svg>'
    )
