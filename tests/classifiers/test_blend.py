"""Mixtures against their sides, and against the best weight found by trying."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import log_loss
from torch import nn
from torch_geometric.nn import global_add_pool

from epic import EditBlend, EditKernelClassifier, EditNeighbors, InputError, UnitCost
from epic.data import lollipop
from epic.graphs.convert import pack
from tests.classifiers.test_kernel import labels
from tests.classifiers.test_neighbors import three


class Network(nn.Module):
    """A network whose weights are random, with dropout to tell training from evaluation."""

    def __init__(self, outputs=3, seed=0):
        super().__init__()
        self.layer, self.dropout = nn.Linear(3, outputs), nn.Dropout(0.5)
        with torch.no_grad():
            self.layer.weight.copy_(torch.randn(outputs, 3, generator=torch.Generator().manual_seed(seed)))

    def forward(self, batch):
        return self.dropout(self.layer(global_add_pool(batch.x, batch.batch, size=batch.num_graphs)))


def oracle(share, seed=0):
    """A function that gives the right class a high probability in a share of the graphs, and a wrong one in others."""

    def probabilities(graphs):
        y = graphs.y.reshape(-1).numpy()
        rng = np.random.default_rng([seed, y.size])
        said = np.where(rng.random(y.size) < share, y, (y + rng.integers(1, 3, y.size)) % 3)
        return 0.1 + 0.7 * np.eye(3)[said]

    return probabilities


@pytest.fixture(scope="module")
def kernel():
    return EditKernelClassifier(cost=UnitCost(), progress=False).fit(three(40, 1))


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_weights_0_and_1_are_the_sides(kernel, weight):
    model, validation, test = Network(), three(30, 2), three(20, 3)
    blend = EditBlend(model, kernel, weight=weight).fit(validation)
    assert blend.weight_ == weight
    with torch.no_grad():
        logits = model.eval()(pack(test).to_batch()).double().numpy()
    scores = logits if weight == 0 else np.log(np.maximum(kernel.predict_proba(test), 0.01))
    assert np.allclose(blend.predict_proba(test), softmax(scores / blend.temperatures_[int(weight)], axis=1))
    expected = logits.argmax(1) if weight == 0 else kernel.predict(test)
    assert blend.predict(test).tolist() == expected.tolist()
    assert blend.score(test) == np.mean(expected == labels(test))


@pytest.mark.parametrize("good", [0, 1])
def test_noise_leaves_the_better_side_alone(good):
    validation, test = pack(three(300, 2)), pack(three(200, 3))
    sides = [oracle(1 / 3, seed=1), oracle(1 / 3, seed=1)]
    sides[good] = oracle(0.9)
    blend = EditBlend(*sides).fit(validation)
    assert abs(blend.weight_ - good) <= 0.1
    assert blend.predict(test).tolist() == sides[good](test).argmax(1).tolist()
    # The sure side is cooled to what it is worth: right in nine of ten.
    assert blend.predict_proba(test).max(1).mean() == pytest.approx(0.9, abs=0.05)


def test_two_equal_sides_are_better_together():
    validation, test = pack(three(900, 2)), pack(three(600, 3))
    blend = EditBlend(oracle(0.7, seed=1), oracle(0.7, seed=2)).fit(validation)
    assert 0.3 <= blend.weight_ <= 0.7
    mixed = log_loss(labels(test), blend.predict_proba(test))
    for weight in (0, 1):
        side = EditBlend(blend.model, blend.neighbours, weight=weight).fit(validation)
        assert mixed < log_loss(labels(test), side.predict_proba(test)) - 0.05


def test_weight_is_the_best_of_all_tried(kernel):
    model, validation = Network(), three(60, 5)
    blend = EditBlend(model, kernel).fit(validation)
    losses = {
        w: log_loss(labels(validation), EditBlend(model, kernel, weight=w).fit(validation).predict_proba(validation))
        for w in np.linspace(0, 1, 21).tolist()
    }
    assert blend.validation_ == pytest.approx(losses)
    assert blend.weight_ == min(losses, key=losses.get)
    assert blend.weight is None


def test_a_network_is_asked_in_evaluation_and_in_chunks(kernel, monkeypatch):
    model, test = Network().train(), three(20, 3)
    blend = EditBlend(model, kernel, weight=0.5).fit(three(30, 2))
    whole = blend.predict_proba(test)
    assert model.training
    monkeypatch.setattr("epic.nn.classify.CHUNK", 6)
    assert np.allclose(blend.predict_proba(test), whole)  # dropout would make them differ
    assert np.allclose(whole.sum(1), 1)


def test_two_networks_are_the_control():
    validation = three(30, 2)
    one, two = Network(seed=1), Network(seed=2)
    blend = EditBlend(one, two, weight=0.5).fit(validation)
    sides = [EditBlend(one, two, weight=w).fit(validation).predict_proba(validation) for w in (0, 1)]
    assert np.allclose(blend.predict_proba(validation), (sides[0] + sides[1]) / 2)
    assert blend.classes_.tolist() == [0, 1, 2]


def test_one_logit_is_that_of_the_second_class():
    graphs = three(30, 2)
    y = labels(graphs) % 2
    model = Network(outputs=1)
    blend = EditBlend(model, EditNeighbors(n_neighbors=3, cost=UnitCost(), progress=False).fit(graphs, y), weight=0.0)
    found = blend.fit(graphs, y).predict_proba(graphs)
    with torch.no_grad():
        logit = model.eval()(pack(graphs).to_batch()).double()[:, 0].numpy()
    assert np.allclose(found[:, 1], 1 / (1 + np.exp(-logit / blend.temperatures_[0])))


def test_named_classes_come_from_the_classifier():
    graphs = three(30, 2)
    names = np.array(["a", "b", "c"])[labels(graphs)]
    near = EditNeighbors(n_neighbors=3, cost=UnitCost(), progress=False).fit(graphs, names)
    blend = EditBlend(Network(), near).fit(three(15, 4), names[:15])
    assert set(blend.predict(graphs)) <= {"a", "b", "c"}


def test_perfect_sides_give_finite_losses():
    graphs = pack(lollipop(40, heads=(3, 6, 9), seed=0))
    perfect = lambda g: np.eye(3)[g.y.reshape(-1).numpy()]  # noqa: E731
    wrong = lambda g: np.eye(3)[(g.y.reshape(-1).numpy() + 1) % 3]  # noqa: E731
    blend = EditBlend(perfect, wrong).fit(graphs)
    assert blend.weight_ == 0
    assert np.isfinite(list(blend.validation_.values())).all()
    assert blend.score(graphs) == 1


def test_it_keeps_to_scikit_learn(kernel):
    blend = EditBlend(Network(), kernel, weight=0.25)
    assert list(blend.get_params()) == ["model", "neighbours", "weight"]
    again = clone(blend)
    assert again.weight == 0.25
    assert again.neighbours.get_params().keys() == kernel.get_params().keys()
    assert repr(blend).endswith("weight=0.25)")
    with pytest.raises(InputError, match="neighbours must be a network, a fitted classifier or a function, got int"):
        EditBlend(Network(), 3)


def test_wrong_input_is_named(kernel):
    held = three(30, 2)
    with pytest.raises(InputError, match=r"call fit\(validation\)"):
        EditBlend(Network(), kernel).predict(held)
    with pytest.raises(InputError, match=r"weight must lie between 0 and 1, got 1\.5"):
        EditBlend(Network(), kernel, weight=1.5)
    with pytest.raises(InputError, match="the sides know 4 and 3 classes"):
        EditBlend(Network(outputs=4), kernel).fit(held)
    other = EditNeighbors(n_neighbors=1, cost=UnitCost(), progress=False).fit(held, labels(held) + 1)
    with pytest.raises(InputError, match="not the same ones"):
        EditBlend(other, kernel).fit(held)
    with pytest.raises(InputError, match="of class 7"):
        EditBlend(Network(), kernel).fit(held, [7] * 30)
    for wrong in (lambda g: np.ones((len(g), 3)), lambda g: np.ones(len(g)), lambda g: np.full((2, 2), 0.5)):
        with pytest.raises(InputError, match=r"probabilities that sum to one of shape \[30, classes\]"):
            EditBlend(wrong, kernel).fit(held)
    broken = Network()
    with torch.no_grad():
        broken.layer.bias.fill_(float("nan"))
    with pytest.raises(InputError, match="the model returns NaN"):
        EditBlend(broken, kernel).fit(held)
