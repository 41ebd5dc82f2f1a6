"""The report page: what it holds without a browser, and how it behaves in one."""

import re

import pytest

from epic import InputError
from epic.compare.claims import Judged
from epic.compare.plan import Claim, Entry
from epic.compare.runs import Runs
from epic.compare.statistics import Comparison, pooled
from epic.compare.store import Store
from epic.compare.verdict import Against, Difference
from epic.paper.charts import _over_datasets, forests
from epic.paper.plans import load_plan
from epic.paper.report import report
from epic.paper.run_summary import called_plans
from tests.compare.stores import fill, others, tiny

EVIL = "<script>alert(1)</script>"


def evil():
    """A plan whose names and errors are markup."""
    entries = [
        Entry(label=n, method=m) for n, m in ((EVIL, "vanilla"), ("drop_edge", "drop_edge"), (EVIL[1:], "drop_node"))
    ]
    return tiny(title=EVIL, datasets=(EVIL, "B"), entries=entries, name=f"tiny {EVIL}")


@pytest.fixture
def evil_store(tmp_path):
    def failed(c):
        return f"ValueError: {EVIL}\n  line 2" if (c["dataset"], c["method"]) == ("B", "drop_edge") else None

    return fill(evil(), tmp_path / "evil.jsonl", lambda c: 0.5 + 0.1 * c["seed"], failed)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Some of every kind of plan."""
    path = tmp_path_factory.mktemp("report") / "all.jsonl"
    wanted = {
        "methods": ["vanilla", "drop_edge", "submix", "epic"],
        "datasets": ("IMDB-BINARY",),
        "backbones": ("gin",),
    }
    worth = {"vanilla": 0.70, "drop_edge": 0.69, "submix": 0.71, "epic": 0.74}
    for name in ("main", "noise"):
        fill(
            load_plan(name, **wanted),
            path,
            lambda c: worth[c["method"]] - 0.3 * c["noise"] + 0.003 * c["seed"],
        )
    sinkhorn = load_plan("sinkhorn", datasets=("BZR",), backbones=("gin",))
    fill(sinkhorn, path, lambda c: 0.8 + 0.01 * c["cost"]["sinkhorn"] + 0.001 * c["seed"])
    others(load_plan("blur"), path, lambda c: {"frobenius": {str(k): 3.0 / k for k in range(1, 11)}})
    accuracy = {"accuracy": 70.0, "k_accuracy": 71.0, "k": 3, "majority_accuracy": 60.0}
    others(load_plan("distance"), path, lambda c: accuracy if c["dataset"] == "BZR" else None)
    losses = {"train_loss": [1.0, 0.5], "validation_loss": [0.9, 0.6], "seconds": 60.0}
    others(load_plan("curves"), path, lambda c: losses)
    parts = {f"{s}_{p}": 0.5 for s in ("negative", "positive") for p in ("head", "mixed", "tail")}
    others(load_plan("lollipop"), path, lambda c: {"pattern": parts})
    return Store(path)


@pytest.fixture(scope="module")
def page(store):
    return report(called_plans(store))


def test_names_and_errors_are_text_and_never_markup(evil_store):
    page = report([Runs(evil(), evil_store)])
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 8
    assert "ValueError: &lt;script&gt;" in page
    assert "script-src" not in page  # the policy forbids scripts altogether
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert EVIL not in report([Runs(evil(), evil_store)], "md")


def test_nothing_is_fetched(page):
    assert re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*\"", page) == []
    assert re.findall(r"https?://", page) == []
    assert re.findall(r"url\((?!#)", page) == []


def test_every_picture_has_words_and_every_plan_its_charts(page):
    pictures = re.findall(r'<svg viewBox[^>]*role="img" aria-label="([^"]+)"', page)
    assert len(pictures) == page.count("<figure")
    assert "IMDB-BINARY, measured. accuracy in percent by % noisy labels. vanilla: 64.3 to 52.3; " in " ".join(pictures)
    assert "Graphs of different classes. head and head: here 0.50, paper 0.97; " in " ".join(pictures)
    titles = re.findall(r"<summary>([^<]+)</summary>", page)
    for expected in (
        "Learning curves: IMDB-BINARY, GIN",
        "Score by level of noise, GIN",
        "Score by iterations of Sinkhorn, GIN",
        "Distance to the exact assignment by iterations of Sinkhorn",
        "Learning of costs: ogbg-molhiv",
        "Mean substitution cost by part of the two nodes",
        "Settings chosen on validation",
    ):
        assert expected in titles
    assert "epic reproduce main --datasets IMDB-BINARY --backbones gin --methods vanilla,drop_edge,submix,epic" in page


def test_the_page_starts_with_what_was_run_and_the_verdict(page):
    start, table = page.index('id="ran"'), page.index('id="plan-1"')
    assert start < table
    top = page[start:table]
    assert "epic reproduce main --datasets IMDB-BINARY" in top
    assert "<b>epic, GIN:</b> on one split: +4.0 points over 5 seeds" in top
    assert top.count('<figure class="chart">') == 4  # main, and noise at three levels
    said = re.search(r'aria-label="main, GIN: IMDB-BINARY. Difference to vanilla in points. ([^"]*)"', top)[1]
    assert said == "; ".join(
        f"{name} on one split: {gap} points over 5 seeds"
        for name, gap in (("drop_edge", "-1.0"), ("submix", "+1.0"), ("epic", "+4.0"))
    )


def test_every_link_of_the_contents_leads_somewhere(page):
    links = re.findall(r'href="#([^"]+)"', page)
    assert len(links) > 12
    assert set(links) <= set(re.findall(r' id="([^"]+)"', page))


def test_the_forest_has_the_mean_of_several_datasets():
    def part(name, gap):
        found = Comparison(gap, gap - 1, gap + 1, 0.01, 3.0, 5, 5, free=4)
        return Difference(name, found, "splits")

    rival = Against("a $x$", "vanilla", "gin", 0.0, (part("A", 1.0), part("B", 3.0)), 2.0, None)
    (chart,) = forests("mine", [], [rival])
    assert "mine, GIN: A, B" in chart
    assert "a $x$" in chart  # no formula
    assert _over_datasets(rival) == pooled([d.found for d in rival.parts])


def test_the_forest_of_a_claim_has_a_row_for_each_dataset():
    parts = {name: Comparison(gap, gap - 1, gap + 1, 0.01, 3.0, 5, 5, free=4) for name, gap in (("A", 1.0), ("B", 3.0))}
    claims = [Judged(Claim(method="x", main=main), parts, pooled(list(parts.values())), None) for main in (True, False)]
    (chart,) = forests("mine", claims, [])  # extra claims have none
    assert re.findall(r">(A|B|all)</text>", chart) == ["A", "B", "all"]
    assert "mine: x against vanilla" in chart


def test_best_is_told_by_more_than_colour(store):
    main = load_plan(
        "main", methods=["vanilla", "drop_edge", "submix", "epic"], datasets=("IMDB-BINARY",), backbones=("gin",)
    )
    page = report([Runs(main, store)])
    assert '<b class="best">74.60 (0.5)</b><i class="kind"> (best)</i>' in page
    assert '<span class="second">71.60 (0.5)</span><i class="kind"> (second best)</i>' in page
    assert '<b class="best">73.20 (0.4)</b><i class="kind"> (best in the paper)</i>' in page


def test_other_formats(store):
    plans = called_plans(store)
    csv = report(plans, "csv")
    assert csv.count("table,block,backbone") == 1
    assert {line.split(",")[0] for line in csv.splitlines()[1:]} == {r.plan.name for r in plans}
    assert report(plans, "latex").count(r"\begin{tabular}") == len(plans)
    text = report(plans, "md")
    assert [t for t in text.splitlines() if t.startswith("## ")] == [f"## {r.plan.name}" for r in plans]
    assert "- GIN, epic: " in text
    with pytest.raises(InputError, match="unknown format 'pdf'"):
        report(plans, "pdf")


@pytest.mark.parametrize("width", [1280, pytest.param(420, marks=pytest.mark.slow)])
def test_in_a_browser(browser, tmp_path, page, evil_store, width):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    (tmp_path / "evil.html").write_text(report([Runs(evil(), evil_store)]), encoding="utf-8")
    browser.errors(), browser.requests()
    for name in ("report.html", "evil.html"):
        browser.open(tmp_path / name, width)
        assert browser.errors() == []
        assert browser.requests() == [(tmp_path / name).as_uri()]
        assert browser.run("return document.documentElement.scrollWidth") <= width
    assert EVIL in browser.run("return document.querySelector('pre').innerText")
    browser.open(tmp_path / "report.html", width)
    seen = "return [...document.querySelectorAll('td .p')].filter((e) => e.offsetParent !== null).length"
    assert browser.run(seen) > 20
    browser.run("document.getElementById('show-paper').click()")
    assert browser.run(seen) == 0
    faded = (
        "return [...document.querySelectorAll('.figure .line')].filter((e) => getComputedStyle(e).opacity < 1).length"
    )
    assert browser.run(faded) == 0
    browser.run("document.querySelector('.legend li.k2').focus()")
    assert browser.run(faded) > 0
    browser.screenshot(tmp_path / f"report_{width}.png")
    assert (tmp_path / f"report_{width}.png").stat().st_size > 20_000


def test_a_report_starts_with_what_was_run(tmp_path):
    """Claims of the paper of which nothing was run are no news."""
    plan = load_plan("main", methods=["vanilla", "drop_edge"], datasets=("BZR",), backbones=("gin",))
    store = fill(plan, tmp_path / "few.jsonl", lambda c: 0.7 + 0.01 * c["seed"])
    page = report([Runs(plan, store)])
    first = page.index('<section class="card"')
    assert page[first:].startswith('<section class="card" id="ran">')
    assert "What holds of the paper" not in page
