import numpy as np
import pytest
import torch

from epic import EditKernelClassifier, EditNeighbors, InputError, UnitCost
from epic.data import Dataset, load, stratified_split
from epic.train.config import run_config
from epic.train.distances import distance_classifier
from epic.train.run import dataset_of, run


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("kernel", EditKernelClassifier), ("neighbors", EditNeighbors)])
def test_outputs_are_those_of_the_classifier(name, kind):
    whole = load("lollipop")
    dataset = Dataset("lollipop", whole.graphs.select(torch.arange(100)), "classes")
    split = stratified_split(dataset.y)
    found = distance_classifier(name, dataset, split, cost=UnitCost(), seed=3)
    train, held, test = (dataset.graphs.select(p) for p in (split.train, split.validation, split.test))
    alone = kind(cost=UnitCost(), seed=3, progress=False).fit(train, validation=held)
    assert np.allclose(found["test"].exp().numpy(), alone.predict_proba(test), atol=1e-3)
    assert torch.allclose(found["test"].exp().sum(1), torch.ones(len(split.test), dtype=torch.double))
    with pytest.raises(InputError, match="needs classes"):
        distance_classifier(name, Dataset("v", dataset.graphs, "values"), split, cost=UnitCost())


def test_a_run_shares_its_cost_with_augmentation(tmp_path):
    shared = {"dataset": "lollipop", "split": "folds", "size": 160, "cost": {"epochs": 1}}
    record = run(run_config(backbone="neighbors", outputs=True, **shared), tmp_path, progress=False)
    learned = list(tmp_path.glob("cost-*.safetensors"))
    run(run_config(method="epic", epochs=1, **shared), tmp_path, progress=False)
    assert list(tmp_path.glob("cost-*.safetensors")) == learned
    _, split = dataset_of(run_config(**shared))
    assert record["sizes"] == [len(split.train), len(split.validation), len(split.test)]
    assert len(record["outputs"]["test"]) == record["sizes"][2]
