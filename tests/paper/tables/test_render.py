"""Tables as text, to the letter."""

import csv
import io

import pytest

from epic.paper.tables.render import to_csv, to_latex, to_markdown
from epic.paper.tables.types import Block, Cell, Row, Table
from tests.compare.stores import fill, tiny
from tests.paper.tables.test_train import table_of

LITERAL = Table(
    "a_b",
    "50 % of <x> & y",
    "accuracy in percent",
    ("D_1",),
    (
        Block(
            "GIN",
            (
                Row(
                    "vanilla", (Cell(80.0, 1.25, 2, 2, printed=81.5, printed_std=0.12, printed_mark="best"),), 2.0, 2.5
                ),
                Row("a|*b*", (Cell(81.0, None, 1, 2, mark="best", printed=79.0, printed_std=1.0),), 1.0, 1.0, 1.5),
                Row("[c]", (Cell(expected=2),)),
                Row("d", (Cell(expected=2, failed=1, mark=None),)),
            ),
            "gin",
            0.0,
        ),
    ),
    notes=("A note.",),
)


def test_markdown_to_the_letter():
    assert to_markdown(LITERAL) == (
        "**50 % of &lt;x&gt; &amp; y** (accuracy in percent)\n\n"
        "*GIN*\n\n"
        "|  | D_1 | rank |\n"
        "|---|---|---|\n"
        "| vanilla | 80.00 (1.2) | 2.0 |\n"
        "| paper | **81.50 (0.12)** | 2.5 |\n"
        "| a\\|\\*b\\* | **81.00** 1/2 | 1.0 |\n"
        "| paper | 79.00 (1.0) | 1.0 (here 1.5) |\n"
        "| \\[c\\] | - 0/2 | - |\n"
        "| d | failed 0/2 | - |\n\n"
        "- **best**; measured ones among cells that have all their runs.\n"
        "- 3/5: three of five runs are done; - none yet; failed: none without an error.\n"
        "- A note.\n"
    )


def test_latex_to_the_letter():
    assert to_latex(LITERAL) == (
        "\\begin{table}\n\\centering\n"
        "\\caption{50 \\% of \\textless{}x\\textgreater{} \\& y (accuracy in percent)}\n"
        "\\label{tab:a-b}\n"
        "\\begin{tabular}{lrr}\n\\toprule\n"
        "& D\\_1 & rank \\\\\n\\midrule\n"
        "\\multicolumn{3}{l}{\\emph{GIN}} \\\\\n"
        "vanilla & 80.00 (1.2) & 2.0 \\\\\n"
        "paper & \\textbf{81.50 (0.12)} & 2.5 \\\\\n"
        "a|*b* & \\textbf{81.00} 1/2 & 1.0 \\\\\n"
        "paper & 79.00 (1.0) & 1.0 (here 1.5) \\\\\n"
        "{[}c] & - 0/2 & - \\\\\n"
        "d & failed 0/2 & - \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\par\\smallskip\\footnotesize\n"
        "\\textbf{best}; measured ones among cells that have all their runs.\n"
        "3/5: three of five runs are done; - none yet; failed: none without an error.\n"
        "A note.\n"
        "\\end{table}\n"
    )


def test_csv_to_the_letter():
    assert to_csv(LITERAL) == (
        "table,block,backbone,noise,row,column,mean,std,runs,expected,failed,mark,printed,printed_std,printed_mark,"
        "difference,low,high,p,p_corrected,over,settings\n"
        "a_b,GIN,gin,0.0,vanilla,D_1,80.0,1.25,2,2,0,,81.5,0.12,best,,,,,,,\n"
        "a_b,GIN,gin,0.0,vanilla,rank,2.0,,,,,,2.5,,,,,,,,,\n"
        "a_b,GIN,gin,0.0,a|*b*,D_1,81.0,,1,2,0,best,79.0,1.0,,,,,,,,\n"
        "a_b,GIN,gin,0.0,a|*b*,rank,1.0,,,,,,1.0,,,,,,,,,\n"
        "a_b,GIN,gin,0.0,[c],D_1,,,0,2,0,,,,,,,,,,,\n"
        "a_b,GIN,gin,0.0,d,D_1,,,0,2,1,,,,,,,,,,,\n"
    )


def test_differences_in_text(tmp_path):
    plan = tiny(seeds=3)
    gain = {"vanilla": [0.0, 0.0, 0.0], "drop_edge": [0.10, 0.11, 0.12], "submix": [0.0, -0.02, 0.02]}
    store = fill(plan, tmp_path / "r.jsonl", lambda c: 0.5 + gain[c["method"]][c["seed"]])
    table = table_of(plan, store)
    assert "| minus vanilla | +11.0 (8.5 to 13.5)* | +11.0 (8.5 to 13.5)* |  |" in to_markdown(table).replace(
        "\\*", "*"
    )
    assert "minus vanilla & +0.0 ($-$5.0 to 5.0) &" in to_latex(table)
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    (row,) = [r for r in rows if (r["row"], r["column"]) == ("drop_edge", "A")]
    assert float(row["p_corrected"]) == pytest.approx(2 * float(row["p"]))
    assert (float(row["difference"]), row["over"]) == (pytest.approx(11.0), "seeds")
