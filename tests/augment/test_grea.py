import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Batch

from epic import InputError
from epic.augment import GREA
from epic.augment.grea import Rationale
from epic.data import Dataset, load, stratified_split
from epic.graphs.convert import pack
from epic.testing import AugmentationTester
from epic.testing import random_graphs as graphs
from epic.train import Training, backbone_for, train
from epic.train.loop import with_features


class TestGREA(AugmentationTester):
    def method(self):
        return GREA(seed=0)


def built(found, method, outputs=3, **form):
    return method.fit(found).wrap_model(
        backbone_for(pack(found), outputs=outputs, hidden_channels=8, num_layers=2, **form)
    )


class Given(nn.Module):
    """A backbone with given node vectors; a gate for each node stands beside it."""

    def __init__(self, vectors):
        super().__init__()
        self.vectors = torch.tensor(vectors)
        self.head = nn.Linear(2, 2)

    def nodes(self, batch):
        return self.vectors

    def pool(self, h, batch):
        return torch.zeros(batch.num_graphs, h.shape[1]).index_add(0, batch.batch, h)


class Gates(nn.Module):
    def __init__(self, gates):
        super().__init__()
        self.gates = torch.tensor(gates)[:, None]

    def forward(self, batch):
        return self.gates


def test_all_combinations_by_hand():
    """Two graphs of two nodes: gates 1, 0 and 0.5, 0.25."""
    batch = Batch.from_data_list(graphs(2, nodes=2))
    backbone = Given([[1.0, 2.0], [3.0, 4.0], [2.0, 2.0], [4.0, 8.0]])
    model = Rationale(backbone, Gates([1.0, 0.0, 0.5, 0.25]))
    r = torch.tensor([[1.0, 2.0], [2.0, 3.0]])
    e = torch.tensor([[3.0, 4.0], [4.0, 7.0]])
    rationale, environment, gate = model.split(batch)
    assert torch.equal(rationale, r)
    assert torch.equal(environment, e)
    assert gate.shape == (4, 1)
    assert torch.equal(model(batch), backbone.head(r)), "predictions are made from the rationale alone"

    def cross_entropy(vector, label):
        return -backbone.head(vector).log_softmax(0)[label].item()

    labels = [0, 1]
    alone = sum(cross_entropy(r[i], labels[i]) for i in (0, 1)) / 2
    pairs = sum(cross_entropy(r[i] + e[j], labels[i]) for i in (0, 1) for j in (0, 1)) / 4
    far = (abs(0.5 - 0.4) + abs(0.375 - 0.4)) / 2  # mean gates of the two graphs
    assert GREA(0.4, num_classes=2).loss(model, batch).item() == pytest.approx(alone + pairs + far, rel=1e-5)


def test_missing_labels_of_tasks_and_values():
    """Only the first graph has task 0, only the second task 1: four combinations, two known entries each."""
    batch = Batch.from_data_list(graphs(2, nodes=1))
    batch.y = torch.tensor([[1.0, float("nan")], [float("nan"), 0.0]])
    backbone = Given([[1.0, 0.0], [0.0, 2.0]])
    model = Rationale(backbone, Gates([0.5, 0.5]))
    r = torch.tensor([[0.5, 0.0], [0.0, 1.0]])
    pairs = [[backbone.head(r[i] + r[j]) for j in (0, 1)] for i in (0, 1)]
    alone = [backbone.head(v) for v in r]
    up, down = (lambda z: F.softplus(-z).item(), lambda z: F.softplus(z).item())
    binary = (up(alone[0][0]) + down(alone[1][1])) / 2
    binary += sum(up(pairs[0][j][0]) + down(pairs[1][j][1]) for j in (0, 1)) / 4
    assert GREA(0.5, task="binary").loss(model, batch).item() == pytest.approx(binary, rel=1e-5)
    square = ((alone[0][0] - 1).item() ** 2 + alone[1][1].item() ** 2) / 2
    square += sum((pairs[0][j][0] - 1).item() ** 2 + pairs[1][j][1].item() ** 2 for j in (0, 1)) / 4
    assert GREA(0.5, task="values").loss(model, batch).item() == pytest.approx(square, rel=1e-5)


@pytest.mark.parametrize("pool", ["sum", "mean"])
def test_rationale_and_environment_make_up_the_whole(pool):
    found = graphs()
    model = built(found, GREA(seed=0), pool=pool).eval()
    batch = Batch.from_data_list(found)
    r, e, gate = model.split(batch)
    assert torch.allclose(r + e, model.backbone.embed(batch), atol=1e-5)
    assert bool(((gate > 0) & (gate < 1)).all())


def test_separator_and_predictor_learn_in_turns():
    found = graphs()
    method = GREA(seed=0)
    model = built(found, method)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(6):
        before = {n: p.detach().clone() for n, p in model.named_parameters()}
        method.on_epoch_start(model, epoch)
        optimizer.zero_grad()
        method.loss(model, Batch.from_data_list(found)).backward()
        optimizer.step()
        moved = {n.split(".")[0] for n, p in model.named_parameters() if not torch.equal(p, before[n])}
        assert moved == ({"separator"} if epoch in (0, 4) else {"backbone"}), epoch


def test_turns_last_as_long_as_asked():
    method = GREA(separator_epochs=2, predictor_epochs=1, seed=0)
    model = built(graphs(), method)
    turns = []
    for epoch in range(7):
        method.on_epoch_start(model, epoch)
        turns.append({n.split(".")[0] for n, p in model.named_parameters() if p.requires_grad})
    separator, backbone = {"separator"}, {"backbone"}
    assert turns == [separator, separator, backbone] * 2 + [separator]


def test_gates_follow_gamma():
    """With the other losses they need not reach it; these are the same in both runs."""
    found = graphs(x="onehot")
    means = []
    for gamma in (0.1, 0.9):
        method = GREA(gamma, seed=0)
        model = built(found, method)
        method.on_epoch_start(model, 0)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(40):
            optimizer.zero_grad()
            method.loss(model, Batch.from_data_list(found)).backward()
            optimizer.step()
        means.append(float(model.split(Batch.from_data_list(found))[2].detach().mean()))
    assert means[0] + 0.2 < means[1]


def test_first_weights_depend_on_the_seed_alone():
    found = graphs()
    state = torch.random.get_rng_state()
    one, two, other = (built(found, GREA(seed=s)).separator.first.linear.weight for s in (0, 0, 1))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(one, two)
    assert not torch.equal(one, other)


class Stop(Exception):
    pass


def test_a_run_that_was_stopped_goes_on_to_the_same_result(tmp_path):
    whole = load("lollipop")
    dataset = Dataset("lollipop", whole.graphs.select(torch.arange(60)), "classes")
    split = stratified_split(dataset.y)
    options = Training(epochs=7, batch_size=16)

    def run(method, **where):
        method.fit(with_features(dataset.graphs, split.train).select(split.train))
        return train(dataset, split=split, method=method, options=options, progress=False, **where)

    class Stopped(GREA):
        def on_epoch_start(self, model, epoch):
            if epoch == 5:  # in the middle of a turn of the predictor
                raise Stop
            super().on_epoch_start(model, epoch)

        def fingerprint(self):
            return super().fingerprint().replace("Stopped", "GREA")

    with pytest.raises(Stop):
        run(Stopped(seed=0), checkpoint=tmp_path / "c.ckpt")
    rest = run(GREA(seed=0), checkpoint=tmp_path / "c.ckpt")
    straight = run(GREA(seed=0))
    for a, b in zip(rest.history, straight.history, strict=True):
        assert {k: v for k, v in a.items() if "seconds" not in k} == {k: v for k, v in b.items() if "seconds" not in k}


def test_wrong_input_is_named():
    found = graphs()
    backbone = backbone_for(pack(found), outputs=3, hidden_channels=8, num_layers=2)
    with pytest.raises(InputError, match=r"call fit\(train\)"):
        GREA(num_classes=3).wrap_model(backbone)
    with pytest.raises(InputError, match="has a Backbone"):
        GREA(num_classes=3).loss(backbone, Batch.from_data_list(found))
    with pytest.raises(InputError, match="Linear has no nodes, pool, head"):
        GREA().fit(found).wrap_model(nn.Linear(3, 3))
    with pytest.raises(InputError, match="needs node features x"):
        GREA().fit(graphs(x=None))
    with pytest.raises(InputError, match="gamma must lie between 0 and 1, got 2"):
        GREA(2)
