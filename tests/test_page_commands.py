"""Every command on README and site is run, on small data with short training; what it names exists."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from epic import UnitCost
from epic.data import lollipop_graph
from tests.cli.command import epic

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
PAGES += sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "reference").glob("*.md"))
PAGES.remove("docs/former_results.md")  # commands of another version
STANDS_FOR = {
    "COMMAND": "path", "DATASET": "BZR", "NAME,NAME": "drop_edge,submix", "NAME": "drop_edge", "SETTING=VALUE": "p=0.1"
}  # fmt: skip
SHORTER = {
    "train": "--epochs 1 --cost-epochs 1 --model hidden_channels=8",
    "compare": "--epochs 1 --cost-epochs 1 --splits 3 --seeds 1 --tune 0 --model hidden_channels=8",
    "augment": "--count 300 --cost-epochs 1",
    "fit": "--epochs 1",
    "reproduce": "--dry",
    "quality": "--graphs 4 --cost-epochs 1",
    "gallery": "--pairs 2",
    "figures": "--graphs 80 --epochs 1",
}
SETS = "NCI1 MUTAG BZR COX2 ENZYMES PROTEINS Mutagenicity IMDB-BINARY IMDB-MULTI".split()
ATOMS = {"MUTAG": 7, "NCI1": 3}


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def commands(page, program):
    """The commands of a program on a page, in blocks and in sentences, without comments."""
    text = text_of(page)
    blocks = "\n".join(re.findall(r"```bash\n(.*?)```", text, re.S)).replace("\\\n", " ")
    lines = [line.split("  #")[0].strip() for line in blocks.splitlines()]
    inline = [" ".join(c.split()) for c in re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))]
    return list(dict.fromkeys(c for c in lines + inline if c.startswith(f"{program} ")))


def write_set(folder, name, count=480):
    """Write small graphs in TU format."""
    folder.mkdir(parents=True)
    lines = {"A": [], "graph_indicator": [], "graph_labels": [], "node_labels": []}
    for number in range(count):
        graph, first = lollipop_graph(3 + number % 2, number % 3), len(lines["node_labels"]) + 1
        lines["graph_labels"].append(number % 2)
        lines["graph_indicator"] += [number + 1] * graph.num_nodes
        lines["node_labels"] += [k % ATOMS.get(name, 3) for k in range(graph.num_nodes)]
        lines["A"] += [f"{a + first}, {b + first}" for a, b in graph.edge_index.T.tolist()]
    lines["node_labels"][: ATOMS.get(name, 3)] = range(ATOMS.get(name, 3))
    for part, values in lines.items():
        (folder / f"{name}_{part}.txt").write_text("\n".join(map(str, values)) + "\n")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with all that commands read."""
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EPIC_DATA", str(tmp_path / "data"))
    for name in SETS:
        write_set(tmp_path / "data" / "tu" / name / "raw", name)
    molecules = (ROOT / "examples" / "molecules.csv").read_text(encoding="utf-8")
    for name in ("my_molecules.csv", "my.csv", "examples/molecules.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(molecules, encoding="utf-8")
    (tmp_path / "mine.csv").write_text(molecules.replace("label", "activity", 1), encoding="utf-8")
    (tmp_path / "drugs.csv").write_text(molecules + "CC(=O)Oc1ccccc1C(=O)O,aspirin,hydrophilic\n", encoding="utf-8")
    for name in ("nci1", "mutag"):
        UnitCost().save(tmp_path / f"{name}.safetensors")
    (tmp_path / "results").mkdir()
    for source, name in (("tables", "bench"), ("study", "study"), ("few", "few"), ("tuneplain", "tuneplain")):
        (tmp_path / "results" / f"{name}.jsonl").symlink_to(ROOT / "results" / f"{source}.jsonl")
    settings = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text_of("docs/reference/config.md"), re.S)[1])
    (tmp_path / "run.yaml").write_text(yaml.safe_dump({**settings, "cost": {"epochs": 1}, "epochs": 1}))
    return tmp_path


def prepared(command):
    """The words of a command, with examples in the place of capitals, and shorter."""
    words = [STANDS_FOR.get(word, word) for word in shlex.split(command)[1:]]
    if "--help" in words or words[0] not in SHORTER:
        return words
    given = shlex.split(SHORTER[words[0]])
    for option in (*given[::2], "--budget", "--workers"):
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    return words + given


def is_whole(command):
    """Whether it can be run. Others name a command, or one with some of its options."""
    verb, *words = shlex.split(command)[1:]
    alone = verb in ("--help", "datasets", "methods", "report") or bool({"--help", "--config"} & set(words))
    return alone or (bool(words) and (verb == "figures" or not words[0].startswith("-")))


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if commands(p, "epic")])
def test_the_commands_of_a_page_run(page, place):
    pytest.importorskip("rdkit", reason="molecules need RDKit (extra 'mol')")
    for command in commands(page, "epic"):
        words = prepared(command)
        if not is_whole(command):
            shown = epic(words[0], "--help")
            assert shown.returncode == 0, command
            assert set(re.findall(r"--[a-z-]+", command)) <= set(re.findall(r"--[a-z-]+", shown.stdout)), command
            continue
        run = epic(*words, cwd=place)
        assert run.returncode == 0, f"{command}\n{run.stderr}"


@pytest.mark.parametrize("page", PAGES)
def test_scripts_and_targets_exist(page):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    for command in commands(page, "make"):
        assert command.split()[1] in targets, command
    for command in commands(page, "python"):
        script, *words = shlex.split(command)[1:]
        if script.endswith(".py"):
            source = text_of(script)
            assert {f'"{w}"' for w in words if w.startswith("--")} <= set(re.findall(r'"--[a-z-]+"', source)), command
