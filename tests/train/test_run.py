import json
import multiprocessing
from dataclasses import replace

import pytest
import torch

from epic import InputError, LearnedCost
from epic.augment import EPIC
from epic.data import catalog, load, smiles, write_graphs
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack
from epic.train import backbone_for
from epic.train.baselines import BASELINES
from epic.train.config import run_config
from epic.train.loop import with_features
from epic.train.run import begin_alike, dataset_of, fitted, run

QUICK = {"epochs": 2, "cost": {"epochs": 1}}


@pytest.fixture
def small(tmp_path):
    write_graphs(tmp_path / "small.safetensors", pack(lollipop(60, seed=0)))
    return str(tmp_path / "small.safetensors")


def without_times(record):
    return {k: v for k, v in record.items() if "seconds" not in k and k != "prepared"}


def test_learning_a_cost_counts_for_every_run_that_uses_it(small, tmp_path):
    config = run_config(dataset=small, method="epic", **QUICK)
    first, second = (run(config, tmp_path / "costs", progress=False)["prepared"] for _ in range(2))
    learned = float(next((tmp_path / "costs").glob("*.seconds")).read_text())
    assert learned > 0
    assert first >= learned
    assert second >= learned


@pytest.mark.parametrize("method", ["vanilla", "drop_edge", "epic", "epic_unit"])
def test_a_run_is_a_function_of_its_config(small, tmp_path, method):
    config = run_config(dataset=small, method=method, **QUICK)
    records = [run(config, tmp_path / place, progress=False) for place in ("a", "b")]
    assert without_times(records[0]) == without_times(records[1])
    assert json.loads(json.dumps(records[0])) == records[0]
    assert records[0]["key"] == config.key
    assert len(records[0]["history"]["validation"]) == 2
    other = run(run_config(dataset=small, method=method, seed=1, **QUICK), tmp_path / "a", progress=False)
    assert other["history"] != records[0]["history"]


def test_a_cost_is_learned_once_for_all_that_need_it(small, tmp_path, monkeypatch):
    learned = []
    real = LearnedCost.fit
    monkeypatch.setattr(LearnedCost, "fit", lambda self, *a, **k: learned.append(1) or real(self, *a, **k))
    for settings, seed in (({}, 0), ({"ratio": 1.0}, 0), ({}, 1)):
        config = run_config(dataset=small, method="epic", settings=settings, seed=seed, **QUICK)
        fitted(config, *dataset_of(config), tmp_path, progress=False)
    assert len(learned) == 2
    assert len(list(tmp_path.glob("cost-*.safetensors"))) == 2


def _learn(small, folder):
    torch.set_num_threads(1)
    config = run_config(dataset=small, method="epic", **QUICK)
    fitted(config, *dataset_of(config), folder, progress=False)


def test_two_processes_that_need_the_same_cost_do_not_disturb_each_other(small, tmp_path):
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_learn, args=(small, tmp_path)) for _ in range(2)]
    for p in processes:
        p.start()
    for p in processes:
        p.join(60)
        assert p.exitcode == 0
    assert len(list(tmp_path.glob("cost-*.safetensors"))) == 1


def test_noise_changes_labels_of_training_and_validation_only(small):
    clean, split = dataset_of(run_config(dataset=small))
    noisy, _ = dataset_of(run_config(dataset=small, noise=0.5))
    changed = clean.y != noisy.y
    assert not changed[split.test].any()
    seen = torch.cat([split.train, split.validation])
    assert int(changed[seen].sum()) == round(0.5 * seen.numel())


def test_the_method_is_made_with_its_settings(small, tmp_path):
    config = run_config(dataset=small, method="epic", settings={"ratio": 1.0, "indicator": True}, **QUICK)
    method, _ = fitted(config, *dataset_of(config), tmp_path, progress=False)
    assert isinstance(method, EPIC)
    assert (method.ratio, method.indicator, method.num_classes) == (1.0, True, 4)


def test_noise_needs_classes(tmp_path):
    graphs = lollipop(20, seed=0)
    for g in graphs:
        g.y = g.y.float() + 0.5
    write_graphs(tmp_path / "real.safetensors", pack(graphs))
    with pytest.raises(InputError, match="label noise needs classes, but real has values labels"):
        dataset_of(run_config(dataset=str(tmp_path / "real.safetensors"), noise=0.2))


def test_the_indicator_does_not_change_the_first_weights(tmp_path):
    graphs = pack(lollipop(8, seed=0))
    with_x = with_features(graphs, torch.arange(8))
    wider = replace(with_x, node={"x": torch.cat([with_x.x, torch.zeros(with_x.num_nodes, 1)], 1)})
    plain, model = backbone_for(with_x, outputs=4), backbone_for(wider, outputs=4)
    begin_alike(model, plain)
    weights = plain.state_dict()
    for name, value in model.state_dict().items():
        assert torch.equal(value[tuple(slice(n) for n in weights[name].shape)], weights[name]), name


@pytest.mark.parametrize("columns", [1, pytest.param(9, marks=pytest.mark.slow)])
def test_the_indicator_beside_categories(columns, tmp_path):
    """Nine columns are those of atoms, whose tables are as large as OGB's whatever the graphs hold."""
    graphs = pack(lollipop(120, seed=0))
    x = (torch.arange(graphs.num_nodes) % 5)[:, None].repeat(1, columns)
    x[int(graphs.ptr[-2])] = 40  # a category that may be among the test graphs only
    write_graphs(tmp_path / "int.safetensors", replace(graphs, node={"x": x}))
    file = str(tmp_path / "int.safetensors")
    for seed in range(3):
        told = {"settings": {"indicator": True}, "split_seed": seed, "cost": {"epochs": 1}}
        record = run(run_config(dataset=file, method="epic", epochs=1, **told), tmp_path, progress=False)
        assert record["made"] > 0


def test_a_file_that_has_changed_is_noticed(small):
    dataset, _ = dataset_of(run_config(dataset=small))
    dataset_of(run_config(dataset=small, checksum=load(small).graphs.digest()))
    with pytest.raises(InputError, match="has changed since"):
        dataset_of(run_config(dataset=small, checksum="other"))
    assert len(dataset) == 60


def test_a_cost_learned_otherwise_is_another_cost(small, tmp_path):
    for learn in (1, 2):
        config = run_config(dataset=small, method="epic", epochs=1, cost={"epochs": learn})
        fitted(config, *dataset_of(config), tmp_path, progress=False)
    assert len(list(tmp_path.glob("cost-*.safetensors"))) == 2


def test_a_file_is_read_once_for_all_runs_on_it(tmp_path, monkeypatch):
    """`epic compare my.csv` does a hundred runs on one file; parsing takes longer than many of them."""
    pytest.importorskip("rdkit")
    file = tmp_path / "m.csv"
    lines = [f"{'C' * (1 + i % 9)}{'O' * (i % 2)},{i % 2}" for i in range(40)]
    file.write_text("\n".join(["smiles,label", *lines]))
    read, reader = [], smiles.read_smiles
    monkeypatch.setattr(catalog, "read_smiles", lambda *a, **k: read.append(a) or reader(*a, **k))
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    for seed in range(3):
        for method in ("vanilla", "drop_edge"):
            config = run_config(dataset=str(file), method=method, split="stratified", split_seed=seed)
            assert len(dataset_of(config)[0]) == 40
    assert len(read) == 1
    dataset_of(run_config(dataset=str(file), task="values"))
    file.write_text("\n".join(["smiles,label", *lines[1:]]))
    assert len(dataset_of(run_config(dataset=str(file)))[0]) == 39  # other contents are read again
    assert len(read) == 3


def test_that_features_are_degrees_is_data_and_no_note(small):
    dataset, _ = dataset_of(run_config(dataset=small))
    assert (dataset.degree_features, dataset.notes) == (True, ())


@pytest.mark.parametrize("backbone", ["gin", *BASELINES, "kernel", "neighbors"])
@pytest.mark.parametrize(
    ("count", "split", "says"),
    [
        (8, "official", "leaves 6 to train, 0 to validate and 2 to test"),  # each chain stands for itself
        (4, "stratified", "4 graphs leaves 2 to train, 0 to validate and 2 to test: give 10 graphs at least"),
        (12, "stratified", r"0 to validate and 4 to test: take the split folds \(--split folds\)"),
    ],
)
def test_too_few_graphs_for_a_split_are_named(tmp_path, backbone, count, split, says):
    """A second time, too, when the parsed file comes from the cache."""
    table = tmp_path / "few.csv"
    table.write_text("\n".join(["smiles,label", *(f"{'C' * (i + 2)}{'O' * (i % 2)},{i % 2}" for i in range(count))]))
    config = run_config(dataset=str(table), task="classes", backbone=backbone, split=split, **QUICK)
    for _ in range(2):
        with pytest.raises(InputError, match=says):
            run(config, tmp_path, progress=False)


@pytest.mark.filterwarnings("ignore:the validation graphs are not used")
def test_classifiers_by_distance_ask_for_classes_first(tmp_path):
    table = tmp_path / "few.csv"
    table.write_text("\n".join(["smiles,label", *(f"{'C' * (i + 2)},{i % 2}" for i in range(20))]))
    config = {"dataset": str(table), "backbone": "neighbors", "split": "folds", "cost": {"epochs": 1}}
    with pytest.raises(InputError, match="neighbors needs classes, but few has binary labels: say --task classes"):
        run(run_config(**config), tmp_path, progress=False)
    assert not list(tmp_path.glob("cost-*"))
    assert 0 <= run(run_config(**config, task="classes"), tmp_path, progress=False)["test"] <= 1
