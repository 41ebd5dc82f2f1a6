"""The tables of docs/results.md, former_results.md and study.md are what the raw lines in results/ give."""

import json
import re
import runpy
import statistics
from pathlib import Path

import matplotlib
import pytest
from scipy import stats

from epic.train.config import RESULTS_VERSION

ROOT = Path(__file__).parents[1]
PAGE, FORMER, STUDY = (
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("results.md", "former_results.md", "study.md")
)
PART = re.compile(r"<!-- results version (\d+): epic (report .*?) -->\n(.*?)<!-- end -->", re.DOTALL)
CELL = re.compile(r"^([\d.]+)(?: \(([\d.]+)\))?(?: (\d+)/\d+)?$")
METHODS = {"unit": "epic_unit", "feature": "epic_feature", "learned": "epic", "random": "epic", "bfs": "epic"}
STUDIED = {
    "vanilla": {"method": "vanilla", "updates": 5000},
    "vanilla 10000": {"method": "vanilla", "updates": 10_000},
    "EPIC unit edges": {"method": "epic_unit", "matching": "edges"},
    "EPIC unit": {"method": "epic_unit", "matching": "nodes"},
    "EPIC learned": {"method": "epic", "matching": "nodes"},
    **{name: {"backbone": name} for name in ("kernel", "neighbors", "counts")},
    **{name: {"method": name} for name in ("flag", "submix")},
}
FIELDS = {"the first": "accuracy", "vote": "voted_accuracy", "on validation": "k_accuracy"}


def parts():
    return [part for page in (FORMER, PAGE, STUDY) for part in PART.finditer(page)]


def cells(text):
    """Plan, block, row, column and text of every measured cell."""
    plan = block = ""
    columns = []
    for line in text.splitlines():
        if line.startswith("## "):
            plan, block = line[3:], ""
        elif re.fullmatch(r"\*[^*]+\*", line):
            block = line.strip("*")
        elif line.startswith("|  |"):
            columns = [c.strip() for c in line.strip("|").split("|")][1:]
        elif line.startswith("| comparison |"):
            columns = []  # what claims say is not a mean of lines
        elif line.startswith("| ") and columns:
            label, *texts = (c.strip() for c in line.strip("|").split("|"))
            if label != "paper" and not label.startswith("minus "):
                for column, cell in zip(columns, texts, strict=True):
                    if column != "rank":
                        yield plan, block, label, column, cell.replace("*", "")


def values(records, plan, block, label, column):
    """What a cell is the mean of, straight from the lines; None where this test does not know."""
    if plan in ("main", "noise", "costs", "order", "splits"):
        noise = re.search(r"(\d+) % noise", block)
        wanted = {
            "dataset": column,
            "backbone": block.split(",")[0].lower(),
            "noise": int(noise[1]) / 100 if noise else 0.0,
            "method": METHODS.get(label, label),
        }
        if label == "counts":
            wanted |= {"backbone": "counts", "method": "vanilla"}
        order = "bfs" if label == "bfs" else "random"
        found = [r for r in records if r["kind"] == "train" and r["config"]["seed"] < 1000]
        found = [r for r in found if all(r["config"][k] == v for k, v in wanted.items())]
        found = [r for r in found if r["config"]["settings"].get("order", "random") == order]
        return [100 * r["test"] for r in found if "error" not in r]
    if plan in ("few", "study"):
        if label not in STUDIED:  # a mixture of others
            return None
        wanted = {"dataset": column, "backbone": block.lower(), **STUDIED[label]}
        found = [
            r for r in records if all({**r["config"], **r["config"]["settings"]}[k] == v for k, v in wanted.items())
        ]
        return [100 * r["test"] for r in found if "error" not in r]
    if plan in ("distance", "distance_exact"):
        field = next((f for text, f in FIELDS.items() if block.endswith(text)), None)
        where = {"cost": label, "dataset": column}
        found = [r for r in records if r["kind"] == "distance" and all(r["config"][k] == v for k, v in where.items())]
        return None if field is None else [r[field] for r in found]
    if plan == "blur":
        return [r["frobenius"][column] for r in records if r["kind"] == "blur" and r["config"]["dataset"] == label]
    if plan == "lollipop":
        sign = "negative" if "different" in block else "positive"
        part = {"head and head": "head", "head and tail": "mixed", "tail and tail": "tail"}[label]
        return [r["pattern"][f"{sign}_{part}"] for r in records if r["kind"] == "lollipop"]
    if plan == "curves" and column in ("last training loss", "least validation loss"):
        (run,) = (r for r in records if r["kind"] == "curves" and r["config"]["assignment"] == label)
        return [run["train_loss"][-1] if column.startswith("last") else min(run["validation_loss"])]
    return None


@pytest.mark.parametrize("number", range(6))
def test_every_cell_is_the_mean_of_its_raw_lines(number):
    version, command, text = parts()[number].groups()
    file = re.search(r"--results (\S+)", command)[1]
    every = [json.loads(line) for line in (ROOT / file).read_text().splitlines()]
    records = list({r["key"]: r for r in every}.values())
    assert all(r["config"].get("recipe", r["config"].get("results_version")) == int(version) for r in records)
    compared = 0
    for plan, block, label, column, cell in cells(text):
        found = values(records, plan, block, label, column)
        if found is None:
            continue
        where = (plan, block, label, column)
        shown = CELL.match(cell)
        assert (shown is None) == (not found), where
        if shown is None:
            continue
        mean, deviation, runs = shown.groups()
        digits = len(mean.partition(".")[2])
        assert float(mean) == pytest.approx(statistics.mean(found), abs=0.51 * 10**-digits), where
        assert (deviation is None) == (len(found) == 1), where
        if deviation is not None:
            digits = len(deviation.partition(".")[2])
            assert float(deviation) == pytest.approx(statistics.stdev(found), abs=0.51 * 10**-digits), where
        assert runs is None or int(runs) == len(found), where
        compared += 1
    assert compared > (5 if int(version) == RESULTS_VERSION else 30)


def test_the_page_says_of_which_version_its_tables_are():
    former = {int(p[1]) for p in parts()} - {RESULTS_VERSION}
    assert len(parts()) == 6
    for version in former:
        assert f"of the former results version, {version}." in FORMER
        assert f"Today's version is {RESULTS_VERSION}," in FORMER
    assert {int(p[1]) for page in (PAGE, STUDY) for p in PART.finditer(page)} == {RESULTS_VERSION}


@pytest.mark.slow
def test_tables_of_this_version_are_up_to_date(monkeypatch):
    monkeypatch.chdir(ROOT)
    script = runpy.run_path(str(ROOT / "docs" / "update.py"))
    assert script["PART"].pattern == PART.pattern
    for part in parts():
        assert part[0] == script["generated"](part), "run docs/update.py"
    for name, drawn in script["pictures"]().items():
        kept = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        if f"Matplotlib v{matplotlib.__version__}," in kept:
            assert kept == drawn, "run docs/update.py"


@pytest.mark.parametrize(
    ("said", "row", "others", "block", "version"),
    [
        ("`main`", "epic", (), "GIN", 2),
        ("`main` of the present", "epic", (), "GIN", 4),
        ("`noise`", "epic", (), "GIN", 2),
        ("`costs`", "learned", ("unit", "feature"), "GIN", 2),
        ("`distance`, one", "learned", ("unit", "feature"), "of equally near ones, the first", 2),
        ("`distance` again", "learned", ("unit", "feature"), "of equally near ones, the first", 4),
        ("`distance` of the present", "learned", ("hungarian",), "of equally near ones, the first", 4),
        ("`order`", "bfs", ("random",), "GIN", 2),
    ],
)
def test_claims_say_what_the_tables_have(said, row, others, block, version):
    """Mean difference to the best of the others, its interval, and in how many places it is above zero."""
    plan, table = said.split("`")[1], {}
    for part in (part for part in parts() if int(part[1]) == version):
        for where, title, label, column, text in cells(part[3]):
            found = CELL.match(text)
            if where == plan and block in title and label != "counts" and found and not found[3]:
                table.setdefault((title, column), {})[label] = float(found[1])
    gaps = []
    for scores in table.values():
        rivals = set(others) or scores.keys() - {row}
        if rivals and scores.keys() >= {row, *rivals}:
            gaps.append(scores[row] - max(scores[name] for name in rivals))
    claims = PAGE.partition("claim by claim")[2].partition("## ")[0]
    said = next(text for text in re.split(r"[|;]", claims) if text.strip().startswith(said))
    mean = statistics.mean(gaps)
    assert f"{sum(g > 0 for g in gaps)} of {len(gaps)} places" in said
    assert f"{mean:+.1f} points on average" in said
    if len(gaps) > 4:
        half = stats.t.ppf(0.975, len(gaps) - 1) * statistics.stdev(gaps) / len(gaps) ** 0.5
        assert f"({mean - half:+.1f} to {mean + half:+.1f})" in said
