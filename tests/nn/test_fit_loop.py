import math

import pytest
import torch
from torch import nn

from epic import InputError
from epic.nn.fit_loop import FitLoop, FitOptions


class Line(nn.Module):
    """One weight, pulled towards 1."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))


def go(options, validation=None, model=None, checkpoint=None, stop_after=None, **told):
    """Train; ``validation`` are the losses to pretend, epoch by epoch."""
    model = model or Line()
    loop = FitLoop(model, options, judge=lambda line: line["validation"], checkpoint=checkpoint, identity="a")

    def evaluate(judged):
        epoch = len(loop.history)
        if epoch == stop_after:
            raise KeyboardInterrupt
        return {"validation": float((judged.weight.detach() - 1) ** 2) if validation is None else validation[epoch]}

    loop.run(
        batches=lambda epoch: range(4),
        loss=lambda batch: ((model.weight - 1) ** 2).sum() + 0.01 * torch.rand(()),
        evaluate=evaluate,
        progress=False,
        **told,
    )
    return model, loop


def test_one_update_for_each_batch_and_the_mean_loss():
    told = []
    model, loop = go(FitOptions(epochs=3, lr=0.1), on_epoch_end=told.append)
    assert loop.history == told
    assert [line["epoch"] for line in told] == [0, 1, 2]
    assert loop.optimizer.state_dict()["state"][0]["step"] == 12
    assert told[0]["loss"] > told[1]["loss"] > told[2]["loss"] > 0
    assert not model.training


def test_the_weights_of_the_best_epoch_are_kept_the_first_of_equals():
    weights = []
    model = Line()
    _, loop = go(
        FitOptions(epochs=4, lr=0.1),
        [3, 1, 1, 2],
        model,
        on_epoch_end=lambda _: weights.append(float(model.weight.detach())),
    )
    assert loop.best_epoch == 1
    assert float(model.weight.detach()) == weights[1] != weights[3]
    assert float(loop.last.weight.detach()) == weights[3]


@pytest.mark.parametrize(("patience", "epochs"), [(0, 8), (2, 4), (3, 8)])
def test_patience(patience, epochs):
    assert len(go(FitOptions(epochs=8, patience=patience), [3, 1, 2, 2, 0.5, 1, 1, 0.5])[1].history) == epochs


def test_the_learning_rate_falls():
    options = FitOptions(epochs=5, lr=0.8, decay=0.5, decay_every=2)
    assert [options.lr_at(e) for e in range(5)] == [0.8, 0.8, 0.4, 0.4, 0.2]
    assert go(options)[1].optimizer.param_groups[0]["lr"] == pytest.approx(0.2)
    assert FitOptions(lr=0.8).lr_at(99) == 0.8


def test_an_interrupted_run_ends_as_an_uninterrupted_one(tmp_path):
    state = torch.get_rng_state()
    options = FitOptions(epochs=5, lr=0.1, decay_every=2)
    straight, whole = go(options)
    with pytest.raises(KeyboardInterrupt):
        go(options, checkpoint=tmp_path / "c", stop_after=3)
    resumed, rest = go(options, checkpoint=tmp_path / "c")
    assert rest.history == whole.history
    assert torch.equal(resumed.weight, straight.weight)
    assert not (tmp_path / "c").exists()
    assert torch.equal(torch.get_rng_state(), state)


def test_a_finished_run_whose_checkpoint_was_left_is_not_trained_on(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.unlink", lambda self, missing_ok=False: None)
    options = FitOptions(epochs=3, lr=0.1)
    first, _ = go(options, checkpoint=tmp_path / "c")
    told = []
    again, loop = go(options, checkpoint=tmp_path / "c", on_epoch_end=told.append)
    assert (told, len(loop.history)) == ([], 3)
    assert torch.equal(first.weight, again.weight)


def test_a_loss_that_is_not_finite_is_refused():
    model = Line()
    model.weight.data[:] = math.nan
    with pytest.raises(InputError, match=r"the loss became nan in epoch 0: try a smaller lr than 0\.1"):
        go(FitOptions(epochs=2, lr=0.1), model=model)


def test_cosine_falls_from_lr_to_nothing():
    options = FitOptions(epochs=4, lr=0.8, schedule="cosine")
    assert [options.lr_at(e) for e in range(4)] == pytest.approx([0.8, 0.4 + 0.4 * 2**-0.5, 0.4, 0.4 - 0.4 * 2**-0.5])
    assert options.lr_at(1, 2) == pytest.approx(0.4)


def test_the_average_is_judged_and_kept(tmp_path):
    """Against a moving average that is written out; a resumed run ends alike."""

    class Counter(Line):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.tensor(0))

    weights, judged = [], []
    model = Counter()
    options = FitOptions(epochs=3, lr=0.1, average=0.8)
    loop = FitLoop(model, options, judge=lambda line: -line["epoch"])

    def loss(batch):
        weights.append(float(model.weight.detach()))
        model.count += 1
        return ((model.weight - 1) ** 2).sum()

    loop.run(
        batches=lambda epoch: range(4),
        loss=loss,
        evaluate=lambda m: judged.append((float(m.weight.detach()), int(m.count), m is model)) or {},
        progress=False,
    )
    average, seen = 0.0, []
    for step, weight in enumerate(weights[1:], 1):
        keep = min(0.8, step / (9 + step))
        average = keep * average + (1 - keep) * weight
        seen.append(average)
    assert judged[0] == (pytest.approx(seen[3]), 4, False)
    assert judged[1] == (pytest.approx(seen[7]), 8, False)
    assert judged[2][0] == pytest.approx(float(model.weight.detach()))
    assert judged[2][1] == int(model.count) == 12
    assert float(loop.last.weight) == judged[2][0]
    straight, _ = go(options)
    with pytest.raises(KeyboardInterrupt):
        go(options, checkpoint=tmp_path / "c", stop_after=2)
    assert torch.equal(go(options, checkpoint=tmp_path / "c")[0].weight, straight.weight)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lr": 0}, "lr must be positive, got 0"),
        ({"patience": -1}, "patience must not be negative, got -1"),
        ({"average": 1}, r"average must lie in \[0, 1\), got 1"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
    ],
)
def test_bad_options(values, message):
    with pytest.raises(InputError, match=message):
        FitOptions(**values)
