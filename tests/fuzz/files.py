"""Cases of files: valid ones, edited in every way, read by what reads them."""

import io
import json
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import click
import numpy as np
import torch
import typer
import yaml
from safetensors.torch import load, save

from epic import EPIC, Cost, FeatureCost, LearnedCost, UnitCost, pack
from epic._checkpoint import load_checkpoint, save_checkpoint
from epic.cli.verbs import app
from epic.compare.store import Store
from epic.data import Shards, lollipop, read_graphs, read_pt, read_tu, write_graphs
from epic.data.download import unpack
from epic.data.files import graph_bytes
from epic.data.shards import plan
from epic.data.smiles import read_smiles
from epic.paper.plans import load_plan
from epic.paper.report import report
from epic.paper.run_summary import called_plans
from tests.compare.stores import fill, others
from tests.fuzz import odd
from tests.fuzz.memory import used
from tests.fuzz.oracle import agree


@cache
def fixed():
    """What takes a while to make: a learned cost, and a model in training."""
    torch.manual_seed(0)
    cost = LearnedCost(hidden_channels=4, num_layers=2).fit(lollipop(24, seed=0), epochs=1, progress=False)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.rand(4, 3)).sum().backward()
    optimizer.step()
    return cost, model, optimizer


def edited(rng, raw, path):
    """Write a safetensors file with edited bytes, tensors or header."""
    kind = rng.integers(3)
    if kind == 0:
        path.write_bytes(odd.edit_bytes(rng, raw))
        return
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(json.loads(raw[8 : 8 + size])["__metadata__"]["epic"])
    tensors = load(raw)
    if kind == 1:
        tensors = odd.edit_tensors(rng, tensors)
    else:
        header = odd.edit_json(rng, header)
    path.write_bytes(save(tensors, {"epic": json.dumps(header)}))


def costs(rng, folder):
    """Costs and augmenters."""
    path = folder / "c.safetensors"
    cost = (UnitCost(), FeatureCost(0.5), fixed()[0])[rng.integers(3)]
    whole = EPIC(cost, seed=0) if rng.random() < 0.4 else cost
    whole.save(path)
    edited(rng, path.read_bytes(), path)
    again = EPIC.load(path) if isinstance(whole, EPIC) else Cost.load(path)
    again = again.cost_ if isinstance(again, EPIC) else again
    agree(np.isfinite(float(again.distance(*lollipop(2, seed=1)))), "a distance that is none")
    return "accepted"


def graphs(rng, folder):
    """Files of graphs."""
    path = folder / "g.safetensors"
    write_graphs(path, pack(odd.graphs(rng, 3)), note="x")
    edited(rng, path.read_bytes(), path)
    used(read_graphs(path)[0])
    return "accepted"


def shards(rng, folder):
    """Folders of shards, their manifest included."""
    manifest = {"count": 5, "shard": 2}
    for name, count in plan(5, 2):
        (folder / name).write_bytes(graph_bytes(pack(odd.graphs(np.random.default_rng(count), count))))
    if rng.random() < 0.5:
        manifest = odd.edit_json(rng, manifest)
    else:
        path = folder / plan(5, 2)[rng.integers(3)][0]
        edited(rng, path.read_bytes(), path)
    (folder / "shards.json").write_text(json.dumps(manifest))
    found = Shards(folder)
    for i in range(min(len(found), 9)):
        found[i].validate()
    return "accepted"


def checkpoints(rng, folder):
    """Checkpoints of training."""
    _, model, optimizer = fixed()
    path = folder / "c.ckpt"
    history = [{"epoch": i, "updates": i + 1, "loss": 0.5} for i in range(2)]
    best = {k: v.clone() for k, v in model.state_dict().items()}
    save_checkpoint(path, "me", {"now": model}, optimizer, best, history)
    raw = path.read_bytes()
    edited(rng, raw, path)
    load_checkpoint(path, "me", {"now": model}, optimizer, lambda line: line["loss"])
    optimizer.step()  # what was read can be gone on from
    path.write_bytes(raw)
    load_checkpoint(path, "me", {"now": model}, optimizer, lambda line: line["loss"])
    return "accepted"


def pt_files(rng, folder):
    """PyTorch files of graphs."""
    path = folder / "g.pt"
    listed = odd.graphs(rng, int(rng.integers(1, 4)))
    if rng.random() < 0.7:
        listed[0] = odd.mutated_graph(rng, listed[0])
    try:
        torch.save(listed, path, _use_new_zipfile_serialization=bool(rng.random() < 0.8))
    except Exception:
        return "refused"  # by torch
    if rng.random() < 0.5:
        path.write_bytes(odd.edit_bytes(rng, path.read_bytes()))
    used(read_pt(path))
    return "accepted"


TU = {
    "A": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n1\n2\n0\n0\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n",
}


def tu_text(rng, folder):
    """Folders in TU format."""
    chosen = sorted(TU)[rng.integers(len(TU))]
    for name, text in TU.items():
        text = odd.edit_text(rng, text) if name == chosen else text
        (folder / f"X_{name}.txt").write_text(text, encoding="utf-8", newline="")
    used(read_tu(folder, "X"))
    return "accepted"


def csv_tables(rng, folder):
    """Tables of molecules."""
    text = "smiles,y,z\n" + "".join(f"C{'C' * (i % 4)}O,{i % 2},{i}\n" for i in range(6))
    (folder / "t.csv").write_text(odd.edit_text(rng, text), encoding="utf-8", newline="")
    used(read_smiles(folder / "t.csv", target=["y"]).graphs)
    return "accepted"


CONFIG = {
    "epochs": 2,
    "method": "epic",
    "set": {"ratio": 0.5},
    "model": {"pool": "mean"},
    "cost": {"epochs": 3},
    "lr": 0.1,
}


@cache
def train_command():
    return typer.main.get_command(app).commands["train"]


def configs(rng, folder):
    """YAML configs of a command, up to the point where it would begin."""
    if rng.random() < 0.5:
        text = yaml.safe_dump(odd.edit_json(rng, CONFIG))
    else:
        text = odd.edit_text(
            rng, yaml.safe_dump(CONFIG).replace("ratio", ["&a x: *a", "<<", "? [", "- -", "!!int"][rng.integers(5)])
        )
    (folder / "c.yaml").write_text(text, encoding="utf-8")
    train_command().make_context("train", ["MUTAG", "--config", str(folder / "c.yaml")])
    return "accepted"


@cache
def records():
    """Lines of results of several kinds, as runs leave them behind."""
    fields = [f"{sign}_{part}" for sign in ("negative", "positive") for part in ("head", "mixed", "tail")]
    outcomes = {
        "lollipop": {"pattern": dict.fromkeys(fields, 0.5), "seconds": 1.0},
        "blur": {"frobenius": {"1": 0.5, "10": 0.25}},
        "curves": {"train_loss": [1.0, 0.5], "validation_loss": [1.0, None], "seconds": 1.0},
        "distance": {"accuracy": 0.5, "majority_accuracy": 0.5, "voted_accuracy": 0.5, "k": 3, "k_accuracy": 0.5},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        fill(load_plan("splits", datasets=("BZR",), seeds=2), path, lambda config: 0.5)
        for kind, outcome in outcomes.items():
            others(load_plan(kind, quick=True), path, lambda config, outcome=outcome: outcome)
        lines = path.read_text().splitlines()
    return [line for kind in ("train", *outcomes) for line in lines if json.loads(line)["kind"] == kind][::-1]


def stores(rng, folder):
    """Results, up to the report."""
    lines = [records()[rng.integers(len(records()))] for _ in range(3)]
    for i, line in enumerate(lines):
        if rng.random() < 0.6:
            record = json.loads(line)
            inner = {k: v for k, v in record.items() if k not in ("key", "kind", "config")}
            edited = odd.edit_json(rng, inner) if rng.random() < 0.8 else odd.edit_json(rng, record)
            record = {"key": record["key"], "kind": record["kind"], "config": record["config"], **edited}
            lines[i] = json.dumps(record) if rng.random() < 0.9 else odd.edit_text(rng, json.dumps(record))
    (folder / "r.jsonl").write_text("\n".join(lines), encoding="utf-8")
    form = "html" if rng.random() < 0.02 else ["md", "csv"][rng.integers(2)]  # pages have charts, which take long
    report(called_plans(Store.merged([folder / "r.jsonl"])), form)
    return "accepted"


def archives(rng, folder):
    """Zip files; nothing may come to lie outside their folder."""
    out, names = io.BytesIO(), ["a.txt", "b/c.txt", "../up.txt", "/tmp/epic-fuzz-up.txt", "a.txt/d", "b\\..\\e", "."]
    with zipfile.ZipFile(out, "w", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][rng.integers(2)]) as file:
        for _ in range(rng.integers(1, 4)):
            member = zipfile.ZipInfo(names[rng.integers(len(names))])
            member.external_attr = [0o644, 0o120777, 0o20666][rng.integers(3)] << 16
            file.writestr(member, b"x" * int(10 ** rng.integers(0, 6)))
    raw = out.getvalue()
    (folder / "a.zip").write_bytes(odd.edit_bytes(rng, raw) if rng.random() < 0.5 else raw)
    try:
        unpack(folder / "a.zip", folder / "out")
    finally:
        agree({p.name for p in folder.iterdir()} <= {"a.zip", "out"}, "a file lies outside")
        agree(not Path("/tmp/epic-fuzz-up.txt").exists(), "a file lies outside")
        agree(not any(p.is_symlink() for p in folder.rglob("*")), "a link")
    return "accepted"


CASES = {
    f.__name__: f
    for f in (costs, graphs, shards, checkpoints, pt_files, tu_text, csv_tables, configs, stores, archives)
}
REFUSALS = (click.ClickException, typer.BadParameter)
