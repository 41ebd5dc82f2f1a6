import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from epic import InputError, LearnedCost
from epic.costs.triplets import Triplets
from epic.data import Dataset, lollipop
from epic.graphs.convert import pack
from epic.paper.experiments.lollipop import pattern
from tests.sample_graphs import random_graph


def labelled(count=24, seed=0, **kind):
    """Two classes that differ in density."""
    rng = np.random.default_rng(seed)
    return [
        random_graph(rng, rng.integers(3, 9), density=0.15 + 0.6 * (i % 2), y=[i % 2], **kind) for i in range(count)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("backbone", ["gin", "gcn"])
@pytest.mark.parametrize(("x", "edge_width"), [("float", 2), ("int", 0), (None, None), ("onehot", 3)])
@pytest.mark.parametrize("assignment", ["sinkhorn", "hungarian"])
def test_learns_on_every_kind_of_graph(backbone, x, edge_width, assignment):
    graphs = labelled(x=x, edge_width=edge_width)
    cost = LearnedCost(backbone=backbone, hidden_channels=8, num_layers=2).fit(
        graphs, epochs=12, batch_size=8, lr=1e-2, assignment=assignment, progress=False
    )
    losses = [e.loss for e in cost.history_]
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])
    distances = cost.distances(labelled(6, seed=9, x=x, edge_width=edge_width), progress=False)
    assert torch.isfinite(distances).all()
    assert (distances >= 0).all()


def test_edge_attributes_matter_where_present():
    graphs = labelled(x="float", edge_width=2)
    cost = LearnedCost(hidden_channels=8).fit(graphs, epochs=1, progress=False)
    changed = graphs[1].clone()
    changed.edge_attr = changed.edge_attr + 5
    assert cost.distance(graphs[1], changed) > 1e-3


@pytest.mark.parametrize("backbone", ["gin", "gcn"])
def test_costs_do_not_depend_on_the_rest_of_the_batch(backbone):
    graphs = labelled()
    cost = LearnedCost(backbone=backbone, hidden_channels=8).fit(graphs, epochs=2, progress=False)
    together = cost.embed(pack(graphs))
    alone = [cost.embed(pack([g])) for g in graphs]
    assert torch.allclose(together.embedding, torch.cat([a.embedding for a in alone]), atol=1e-5)
    assert torch.allclose(together.deletion, torch.cat([a.deletion for a in alone]), atol=1e-5)
    assert (together.deletion > 0).all()


def test_unseen_categories_share_one_vector():
    graphs = labelled(x="int", edge_width=None)
    cost = LearnedCost(hidden_channels=8).fit(graphs, epochs=1, progress=False)
    g = graphs[0].clone()
    a, b = g.clone(), g.clone()
    a.x, b.x = g.x + 100, g.x + 200
    assert cost.distance(a, b) == pytest.approx(0.0, abs=1e-6)


def test_same_seed_same_costs_and_global_state_untouched():
    graphs = labelled()
    before = torch.get_rng_state()
    one = LearnedCost(hidden_channels=8).fit(graphs, epochs=2, seed=3, progress=False)
    two = LearnedCost(hidden_channels=8).fit(graphs, epochs=2, seed=3, progress=False)
    other = LearnedCost(hidden_channels=8).fit(graphs, epochs=2, seed=4, progress=False)
    assert torch.equal(before, torch.get_rng_state())
    assert one.history_ == two.history_ != other.history_
    assert torch.equal(one.distances(graphs, progress=False), two.distances(graphs, progress=False))


def test_best_epoch_is_kept_and_patience_ends_it():
    graphs = labelled(40)
    cost = LearnedCost(hidden_channels=8).fit(
        graphs, epochs=60, patience=3, lr=0.3, validation=labelled(20, seed=5), progress=False
    )
    losses = [e.validation for e in cost.history_]
    assert len(losses) < 60
    assert min(losses) == losses[-4]


SCRIPT = """
import sys, time, torch
torch.set_num_threads(1)
from tests.costs.test_learned import labelled
from epic import LearnedCost
from epic.nn.fit_loop import FitLoop
if sys.argv[2] == "slow":
    add = FitLoop._add
    def slow(self, line):
        add(self, line)
        print("epoch", flush=True)
        time.sleep(0.2)
    FitLoop._add = slow
folder = sys.argv[1]
cost = LearnedCost(hidden_channels=8).fit(labelled(), epochs=8, checkpoint=folder + "/run.ckpt", progress=False)
cost.save(folder + "/cost.safetensors")
"""


@pytest.mark.slow
def test_kill_9_and_resume_gives_the_same_costs(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen([*command, "slow"], stdout=subprocess.PIPE, text=True) as run:
        for _ in range(4):
            assert run.stdout.readline() == "epoch\n"
        os.kill(run.pid, signal.SIGKILL)
    assert (tmp_path / "run.ckpt").exists()
    assert not (tmp_path / "cost.safetensors").exists()
    subprocess.run([*command, "fast"], check=True)
    assert not (tmp_path / "run.ckpt").exists()
    resumed = LearnedCost.load(tmp_path / "cost.safetensors")
    straight = LearnedCost(hidden_channels=8).fit(labelled(), epochs=8, progress=False)
    assert resumed.history_ == straight.history_
    for a, b in zip(resumed.network_.state_dict().values(), straight.network_.state_dict().values(), strict=True):
        assert torch.equal(a, b)


def test_a_checkpoint_of_something_else_is_not_continued(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    monkeypatch.setattr("pathlib.Path.unlink", lambda self, missing_ok=False: None)  # keep it at the end
    LearnedCost(hidden_channels=8).fit(labelled(), epochs=2, checkpoint=path, progress=False)
    with pytest.raises(InputError, match="belongs to other graphs or settings"):
        LearnedCost(hidden_channels=8).fit(labelled(seed=1), epochs=2, checkpoint=path, progress=False)
    path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="damaged"):
        LearnedCost(hidden_channels=8).fit(labelled(), epochs=2, checkpoint=path, progress=False)


def no_nodes():
    return [random_graph(np.random.default_rng(0), 0, x=None, edge_width=None, y=[k % 2]) for k in range(20)]


@pytest.mark.parametrize(
    ("graphs", "options", "message"),
    [
        (lambda: labelled(edge_width=None)[::2], {}, "1 class"),
        (lambda: [random_graph(np.random.default_rng(0), 4)], {}, "no labels y"),
        (no_nodes, {}, "none of the 16 graphs has a node"),
        (labelled, {"epoch": 3}, "did you mean 'epochs'"),
        (labelled, {"epochs": 0}, "epochs must be positive, got 0"),
        (labelled, {"assignment": "hungry"}, "unknown assignment 'hungry'"),
        (labelled, {"validation": 1.5}, "got 1.5"),
    ],
)
def test_bad_input_is_refused(graphs, options, message):
    cost = LearnedCost(hidden_channels=8)
    with pytest.raises(InputError, match=message):
        cost.fit(graphs(), progress=False, **options)
    assert not cost.fitted


def test_used_before_it_is_learned_or_on_other_features():
    graphs = labelled()
    with pytest.raises(InputError, match="call fit"):
        LearnedCost().distance(graphs[0], graphs[1])
    cost = LearnedCost(hidden_channels=8).fit(graphs, epochs=1, progress=False)
    other = labelled(2, x="int")
    with pytest.raises(InputError, match="2 integer columns, but the network was made for 3 float columns"):
        cost.distance(*other)
    with pytest.raises(InputError, match="no edge_attr"):
        cost.distance(*labelled(2, edge_width=None))
    with pytest.raises(InputError, match="no x"):
        cost.distance(*labelled(2, x=None))


@pytest.mark.slow
def test_other_kinds_of_labels_learn_too():
    graphs = labelled(30)
    for row, g in enumerate(graphs):
        g.y = torch.tensor([[float(row % 2), float("nan") if row % 3 else 1.0 - row % 2]])
    LearnedCost(hidden_channels=8).fit(graphs, epochs=1, progress=False)
    for g in graphs:
        g.y = torch.tensor([g.edge_index.shape[1] / g.num_nodes])
    cost = LearnedCost(hidden_channels=8).fit(graphs, epochs=12, batch_size=8, lr=1e-2, progress=False)
    assert cost.history_[-1].loss < 0.95 * cost.history_[0].loss


def test_lollipop_pattern_of_the_paper_on_unseen_graphs():
    """Appendix C: heads decide the class."""
    cost = LearnedCost().fit(lollipop(240, seed=0), epochs=10, progress=False)
    found = pattern(cost, lollipop(80, seed=1))
    assert found.negative_head > 4 * found.negative_tail  # paper: 0.97 against 0.04
    assert found.positive_mixed > 4 * found.positive_head  # 0.8 against 0.07
    assert found.positive_mixed > 3 * found.positive_tail  # 0.8 against 0.2


@pytest.mark.slow
def test_learning_on_proteins_stays_under_2_gb(tu_folder):
    """Graphs of 4 and of 620 nodes: a batch padded to the largest would be gigabytes."""
    script = f"""
import resource, torch
torch.set_num_threads(1)
from epic import LearnedCost
from epic.data import read_tu
graphs = read_tu({str(tu_folder)!r}, "PROTEINS")
assert int(graphs.sizes.max()) == 620 and int(graphs.sizes.min()) == 4
LearnedCost().fit(graphs, epochs=1, progress=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    begin = time.time()
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    peak = int(out.stdout.split()[-1]) / 1e6
    print(f"peak {peak:.2f} GB in {time.time() - begin:.0f} s")
    assert peak < 2.0


def test_seeds_may_be_generators_and_precision_survives_saving(tmp_path):
    graphs = labelled()
    one, two = (
        LearnedCost(hidden_channels=8).fit(graphs, epochs=1, seed=torch.Generator().manual_seed(4), progress=False)
        for _ in "ab"
    )
    assert one.history_ == two.history_
    one.network_.double()
    one.save(tmp_path / "c")
    again = LearnedCost.load(tmp_path / "c")
    assert next(again.network_.parameters()).dtype == torch.double


def test_a_failed_fit_leaves_the_old_costs():
    graphs = labelled()
    cost = LearnedCost(hidden_channels=8).fit(graphs, epochs=1, progress=False)
    before = cost.distance(graphs[0], graphs[1])
    with pytest.raises(InputError, match="1 class"):
        cost.fit(graphs[::2], progress=False)
    assert cost.distance(graphs[0], graphs[1]) == before


def test_validation_graphs_of_one_class_are_not_used():
    graphs = labelled()
    with pytest.warns(UserWarning, match="the validation graphs are not used"):
        cost = LearnedCost(hidden_channels=8).fit(graphs, validation=graphs[::2], epochs=1, progress=False)
    assert cost.history_[0].validation is None


def test_it_is_a_module():
    graphs = labelled()
    cost = LearnedCost(hidden_channels=8)
    assert (list(cost.parameters()), hasattr(cost, "network_"), cost.training) == ([], False, False)
    assert repr(cost) == "LearnedCost(backbone='gin', hidden_channels=8, num_layers=3), not learned yet"
    cost.fit(graphs, epochs=2, seed=0, progress=False)
    ordered = min(cost.history_, key=lambda e: e.judged).ordered
    assert repr(cost).endswith(f"num_layers=3), learned in 2 epochs, orders {ordered:.0%} of held-out triplets")
    other = LearnedCost(hidden_channels=8).fit(graphs, epochs=1, seed=1, progress=False)
    assert other.distance(*graphs[:2]) != cost.distance(*graphs[:2])
    other.load_state_dict(cost.state_dict())
    assert other.distance(*graphs[:2]) == cost.distance(*graphs[:2])
    assert cost.double().to("cpu") is cost
    assert {p.dtype for p in cost.parameters()} == {torch.double}


def test_costs_are_always_in_evaluation_mode():
    graphs = labelled()
    cost = LearnedCost(hidden_channels=8).fit(graphs, epochs=1, progress=False)
    before = cost.distance(*graphs[:2])
    whole = torch.nn.ModuleDict({"cost": cost}).train()
    assert whole["cost"].distance(*graphs[:2]) == before
    assert not any(m.training for m in cost.modules())


def test_fit_does_not_change_what_was_passed_to_the_constructor():
    cost = LearnedCost(backbone="gcn", hidden_channels=4, num_layers=2)
    cost.fit(labelled(), epochs=1, progress=False)
    assert (cost.backbone, cost.hidden_channels, cost.num_layers) == ("gcn", 4, 2)
    assert (cost.learning_.epochs, len(cost.history_)) == (1, 1)


def test_the_task_may_be_told():
    graphs = labelled()
    for i, g in enumerate(graphs):
        g.y = torch.tensor([[float(i % 2)]])
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        made = Triplets.__init__
        patch.setattr(Triplets, "__init__", lambda self, y, task=None: seen.append(task) or made(self, y, task))
        LearnedCost(hidden_channels=4).fit(Dataset("told", pack(graphs), "values"), epochs=1, progress=False)
        LearnedCost(hidden_channels=4).fit(graphs, task="binary", epochs=1, progress=False)
    assert seen == ["values", "values", "binary", "binary"]


def test_a_checkpoint_knows_the_validation_graphs(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    monkeypatch.setattr("pathlib.Path.unlink", lambda self, missing_ok=False: None)  # keep it at the end
    how = {"epochs": 1, "checkpoint": path, "progress": False}
    LearnedCost(hidden_channels=4).fit(labelled(), validation=labelled(seed=5), **how)
    with pytest.raises(InputError, match="belongs to other graphs or settings"):
        LearnedCost(hidden_channels=4).fit(labelled(), validation=labelled(seed=6), **how)
