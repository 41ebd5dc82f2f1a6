"""Orders that keep molecules valid, against RDKit."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data
from torch_geometric.utils import to_networkx

from epic import EPIC, FeatureCost, InputError, UnitCost, edit_path
from epic.data import load
from epic.data.chemistry import KNOWN, chemistry_of, fault, molecule_of, most_bonds
from epic.data.smiles import molecule
from epic.distance.edges import MATCHINGS
from epic.paths.apply import apply_operations
from epic.paths.bonds import ORDER
from epic.paths.operations import draw_order
from epic.random import derived
from tests.conftest import without_numba
from tests.data.test_chemistry import labelled

Chem = pytest.importorskip("rdkit.Chem", reason="molecules need the extra mol")

DRUGS = """CC(=O)Nc1ccc(O)cc1 CC(C)Cc1ccc(cc1)C(C)C(=O)O CC(=O)Oc1ccccc1C(=O)O Cn1cnc2c1c(=O)n(C)c(=O)n2C
CN1CCC[C@H]1c1cccnc1 COc1ccc2[nH]cc(CCNC(C)=O)c2c1 NCCc1c[nH]c2ccc(O)cc12 CN(C)CCc1c[nH]c2ccccc12
Clc1ccc2c(c1)C(=NCC(=O)N2)c1ccccc1 O=[N+]([O-])c1ccc(cc1)C(O)C(CO)NC(=O)C(Cl)Cl C[N+](C)(C)CC(=O)[O-]
CS(=O)(=O)Nc1ccc(cc1)C(O)CNC(C)C NS(=O)(=O)c1cc(Cl)c2c(c1)S(=O)(=O)NCN2 OC(=O)c1ccc2ccccc2c1
CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)O FC(F)(F)c1cccc(c1)N1CCNCC1 c1ccc2c(c1)[nH]c1ccccc12
C#CCN(C)[C@H](C)Cc1ccccc1 CCOP(=O)(OCC)Oc1ccc(cc1)[N+](=O)[O-] Oc1ccc(cc1)/C=C/c1cc(O)cc(O)c1 C1CCC2CCCCC2C1
O=c1cc[nH]c(=O)[nH]1 c1ccc(cc1)-c1ccccn1 Brc1csc(c1)C(=O)NC1CC1 CC(C)(C)c1onc(c1)N c1cnc2[nH]ccc2c1 CCO C""".split()

drugs = st.sampled_from(DRUGS)
seeds = st.integers(0, 10**6)
NO_REPAIR = Chem.SanitizeFlags.SANITIZE_ALL ^ Chem.SanitizeFlags.SANITIZE_CLEANUP


def two(one, other):
    return molecule(one), molecule(other)


def sanitised(path, k):
    """Whether RDKit sanitises a step written with single, double and triple bonds, without mending nitrogens first."""
    data = apply_operations(path._ops, path._rank < k).graphs.graph(0)
    mol = Chem.RWMol()
    for z, charge in data.x[:, [0, 3]].tolist():
        atom = Chem.Atom(z + 1)
        atom.SetFormalCharge(charge - 5)
        mol.AddAtom(atom)
    for (u, v), order in zip(data.edge_index.T.tolist(), data[ORDER].tolist(), strict=True):
        if u < v:
            mol.AddBond(u, v, Chem.BondType.values[order])
    return not Chem.SanitizeMol(mol, sanitizeOps=NO_REPAIR, catchErrors=True)


def connected(graph):
    return graph.num_nodes > 0 and nx.is_connected(nx.Graph(to_networkx(graph)))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(one=drugs, other=drugs, seed=seeds, matching=st.sampled_from(MATCHINGS))
def test_valid_orders_hold_what_they_promise(one, other, seed, matching):
    source, target = two(one, other)
    path = edit_path(source, target, UnitCost(), matching=matching, order="valid", seed=seed)
    plain = edit_path(source, target, UnitCost(), matching=matching, order="random", seed=seed)
    # The same operations in another order.
    assert path.order == "valid"
    assert Counter(op.source for op in path.operations) == Counter(op.source for op in plain.operations)
    assert Counter(op.target for op in path.operations) == Counter(op.target for op in plain.operations)
    assert path.distance == plain.distance
    # Both ends are exact.
    for end, graph in ((path[0], source), (path[len(path)], target)):
        assert all(torch.equal(end[key], graph[key]) for key in ("x", "edge_index", "edge_attr"))
    # Every step is what the search says: valid by RDKit, connected by networkx.
    steps = range(1, len(path) + 1)
    valid, whole = path._ops.states(path._rank)
    assert valid.tolist() == [sanitised(path, k) for k in steps]
    assert whole.tolist() == [connected(path[k]) for k in steps]
    # The graphs themselves are valid where the search says so, and perhaps where RDKit mends a nitrogen.
    assert len(path.valid) == len(path) + 1
    assert not (valid & ~np.array(path.valid[1:])).any()
    assert path.valid[0]
    # No fewer than in the random order that the search starts from.
    start, _ = draw_order(path._ops, "random", derived(seed, "order"))
    valid_before, whole_before = path._ops.states(start)
    assert valid.sum() >= valid_before.sum()
    assert (valid & whole).sum() >= (valid_before & whole_before).sum()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(one=drugs, other=drugs, seed=seeds)
def test_steps_have_the_features_of_their_molecules(one, other, seed):
    """Against the graph of the SMILES of the step, atoms and bonds in any order, stereo left out."""
    path = edit_path(*two(one, other), UnitCost(), matching="edges", order="valid", seed=seed)
    for k in range(1, len(path)):
        smiles = path.smiles(k)
        assert bool(smiles) == path.valid[k]
        if not smiles:
            continue
        graph, again = path[k], molecule(smiles)
        for key, column in (("x", 1), ("edge_attr", 1)):
            kept = [c for c in range(graph[key].shape[1]) if c != column]
            rows = [Counter(map(tuple, g[key][:, kept].tolist())) for g in (graph, again)]
            assert rows[0] == rows[1], (k, smiles, key)


@pytest.mark.slow
def test_most_steps_of_drug_pairs_are_valid():
    rng = np.random.default_rng(0)
    share = {}
    for order in ("random", "valid"):
        steps = []
        for one, other in (rng.choice(DRUGS, 2, replace=False) for _ in range(25)):
            path = edit_path(*two(one, other), UnitCost(), matching="edges", order=order)
            steps += [(v, connected(path[k])) for k, v in enumerate(path.valid)][1:-1]
        share[order] = np.mean(steps, axis=0)
    assert (share["valid"] > 0.95).all()
    assert (share["random"] < 0.7).all()


def test_the_same_orders_without_numba():
    for seed in range(6):
        one, other = np.random.default_rng(seed).choice(DRUGS, 2)
        paths = [edit_path(*two(one, other), UnitCost(), order="valid", seed=seed)]
        with without_numba():
            paths.append(edit_path(*two(one, other), UnitCost(), order="valid", seed=seed))
        assert paths[0].operations == paths[1].operations
        assert [paths[0].smiles(k) for k in range(3)] == [paths[1].smiles(k) for k in range(3)]


def test_a_methyl_group_comes_and_goes():
    path = edit_path(*two("Cc1ccccc1", "c1ccccc1"), UnitCost(), matching="edges", order="valid")
    assert path.smiles(0) == "Cc1ccccc1"
    assert path.smiles(-1) == path.smiles(len(path)) == "c1ccccc1"
    assert {path.smiles(k) for k in range(len(path) + 1)} == {"Cc1ccccc1", "c1ccccc1"}
    assert path.valid == (True,) * 8
    assert path.molecule(0).GetNumAtoms() == 7


def test_a_linker_is_never_cut_before_the_other_way_is_there():
    """The middle atom goes only after its neighbours are joined: a triangle in between."""
    path = edit_path(*two("CCC", "CC"), UnitCost(), matching="edges", order="valid")
    assert all(connected(g) for g in path)
    assert all(path.valid)


def test_steps_of_other_orders_are_read_as_they_are():
    path = edit_path(*two(DRUGS[0], DRUGS[1]), UnitCost(), order="random", seed=3)
    assert path.valid == tuple(not fault(molecule_of(g)) for g in path)
    assert not all(path.valid)
    bad = path.valid.index(False)
    assert path.smiles(bad) == ""
    assert path.molecule(bad).GetNumAtoms() == path[bad].num_nodes


def test_augmented_drugs_are_valid_and_connected():
    graphs = [molecule(s) for s in DRUGS[:-2]]
    for k, graph in enumerate(graphs):
        graph.y = torch.tensor([k % 2])
    batch = Batch.from_data_list(graphs)
    for matching in MATCHINGS:
        augment = EPIC(UnitCost(), ratio=2, num_classes=2, order="valid", matching=matching, seed=0)
        out = augment(batch).to_data_list()
        made = out[len(graphs) :]
        assert len(made) == 2 * len(graphs)
        assert all(not fault(molecule_of(g)) for g in made)
        assert all(connected(g) for g in made)
        assert len({Chem.MolToSmiles(molecule_of(g)) for g in made} - set(DRUGS)) > len(graphs)
        for got, given_graph in zip(out, graphs, strict=False):
            assert torch.equal(got.x, given_graph.x)
            assert torch.equal(got.edge_attr, given_graph.edge_attr)


def test_a_salt_is_valid_where_it_cannot_be_connected():
    path = edit_path(*two("CC(=O)[O-].[Na+]", "CCC(=O)[O-].[K+]"), UnitCost(), matching="edges", order="valid")
    assert all(path.valid)
    assert not connected(path[0])


def test_graphs_that_are_no_molecules_are_refused():
    line = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]))
    with pytest.raises(InputError, match=r"not known to be molecules \(x is 3 wide, edge_attr 0\)"):
        edit_path(line, line, order="valid")
    path = edit_path(line, line)
    for ask in (lambda: path.valid, lambda: path.smiles(0), lambda: path.molecule(0)):
        with pytest.raises(InputError, match="not known to be molecules"):
            ask()


def test_an_invalid_end_gets_a_random_order():
    known = KNOWN["MUTAG"]
    broken = labelled("CFC", [(0, 1, "double"), (1, 2, "single")], known)
    good = labelled("CCO", [(0, 1, "single"), (1, 2, "single")], known)
    with pytest.warns(UserWarning, match="the source is no valid molecule; its order is random"):
        path = edit_path(broken, good, UnitCost(), order="valid", seed=1)
    assert path.order == "random"
    plain = edit_path(broken, good, UnitCost(), order="random", seed=1)
    assert path.operations == plain.operations
    for ours, theirs in zip(path, plain, strict=True):  # nothing is rewritten
        assert torch.equal(ours.edge_attr, theirs.edge_attr)
    both = [broken, good, good, broken]
    for k, graph in enumerate(both):
        graph.y = torch.tensor([k % 2])
    with pytest.warns(UserWarning, match="No valid order exists for"):
        EPIC(UnitCost(), ratio=4, num_classes=2, order="valid", seed=0)(Batch.from_data_list(both))


@pytest.mark.parametrize("name", list(KNOWN))
def test_sets_of_plain_labels_are_read_by_their_widths(name, tu_folder):
    dataset = load(name, data=tu_folder.parent)
    assert chemistry_of(dataset.graphs) is KNOWN[name]
    fine = [g for g in dataset[:40] if not fault(molecule_of(g, KNOWN[name]))][:12]
    assert len(fine) == 12
    steps = []
    for one, other in zip(fine[::2], fine[1::2], strict=True):
        path = edit_path(one, other, UnitCost(), matching="edges", order="valid")
        for end, graph in ((path[0], one), (path[len(path)], other)):
            assert torch.equal(end.x, graph.x)
            assert graph.edge_attr is None or torch.equal(end.edge_attr, graph.edge_attr)
        assert not (path._ops.states(path._rank)[0] & ~np.array(path.valid[1:])).any()
        steps += path.valid[1:-1]
    assert np.mean(steps) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("name", "matching"), [("ogbg-molbace", "edges"), ("ogbg-molbbbp", "nodes")])
def test_real_pairs_reach_the_targets(name, matching, tu_folder):
    dataset = load(name, data=tu_folder.parent)
    rng, steps = np.random.default_rng(1), []
    for one, other in (rng.choice(len(dataset), 2, replace=False) for _ in range(12)):
        path = edit_path(dataset[int(one)], dataset[int(other)], FeatureCost(), matching=matching, order="valid")
        steps += [(v, connected(path[k])) for k, v in enumerate(path.valid)][1:-1]
    valid, whole = np.mean(steps, axis=0)
    assert valid > 0.8
    assert whole > 0.9  # some of BBBP's molecules are salts


def test_most_bonds_are_those_of_rdkit():
    assert [most_bonds(*a) for a in (("C",), ("N",), ("N", 1), ("O", -1), ("S",), ("F",))] == [4, 3, 4, 1, 6, 1]
    assert most_bonds(0) == 99
