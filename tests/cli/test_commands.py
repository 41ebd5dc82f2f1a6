"""The verbs, run as a user would."""

import pytest

from tests.cli.command import epic


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "NCI2"), "unknown dataset 'NCI2': did you mean NCI1"),
        (("train", "{small}", "--method", "epicc"), "unknown method 'epicc'; did you mean 'epic' or"),
        (("train", "{small}", "--backbone", "gat"), "unknown backbone 'gat'"),
        (("train", "{small}", "--model", "pool=max"), "unknown pool 'max'"),
        (("train", "{small}", "--method", "drop_edge", "--set", "q=1"), "unknown setting of drop_edge 'q'"),
        (("train", "{small}", "--method", "drop_edge", "--set", "p"), "--set takes NAME=VALUE, got 'p'"),
        (("train", "{small}", "--method", "drop_edge", "--set", "p=2"), "p must lie between 0 and 1, got 2"),
        (("train", "{small}", "--lr", "-1"), "lr: Input should be greater than 0, got -1.0"),
        (("train", "{small}", "--config", "none.yaml"), "cannot read the config none.yaml"),
        (("train", "{small}", "--device", "nowhere"), "cannot use the device 'nowhere'"),
        (("path", "{small}", "0", "99"), "there is no graph 99 in small: graphs run from 0 to 59"),
        (("path", "{small}", "0", "1", "--out", "x.txt"), "must end in .html, .png, .svg, .pdf"),
        (
            ("train", "{small}", "--split", "random"),
            "split: Input should be 'official', 'stratified' or 'folds', got 'random'",
        ),
        (("train", "{small}", "--model", "pool"), "--model takes NAME=VALUE, got 'pool'"),
        (("compare", "{small}", "--model", "pools=sum"), "unknown option of the backbone 'pools'; did you mean 'pool'"),
        (("train", "{small}", "--cost-assignment", "greedy"), "unknown assignment 'greedy'"),
        (("gallery", "{small}", "--out", "x.png"), "must end in .html"),
        (("path", "{small}", "0", "1", "--cost", "none.safetensors"), "there is no file none.safetensors"),
        (("fit", "{small}", "--out", "/nowhere/c.safetensors"), "the folder /nowhere does not exist"),
        (("fit", "nothing.csv", "--out", "c.safetensors"), "there is no file nothing.csv"),
        (("augment", "{small}", "--out", "a", "--method", "vanilla"), "vanilla makes no graphs"),
        (("augment", "{small}", "--out", "a", "--shard", "100"), "multiple of 256, got 100"),
        (("augment", "{small}", "--out", "a", "--part", "test"), "unknown part 'test'"),
        (("augment", "NCI2", "--out", "a"), "unknown dataset 'NCI2'"),
        (
            ("train", "{small}", "--backbone", "counts", "--method", "drop_edge"),
            "counts is not trained in steps, so drop_edge cannot augment its graphs",
        ),
        (("fit", "{small}", "--out", "mine.csv"), "cannot write mine.csv: the name must end in .safetensors"),
        (("path", "{small}", "0", "1", "--edge-price", "3"), "--edge-price is for --matching edges"),
        (("gallery", "{small}", "--edge-price", "3"), "--edge-price is for --matching edges"),
        (("datasets", "--data", "/nowhere"), "there is no data folder /nowhere"),
    ],
)
def test_wrong_calls_end_with_2_and_a_message(small, tmp_path, arguments, message):
    before = sorted(p.name for p in tmp_path.iterdir())
    run = epic(*(a.replace("{small}", str(small)) for a in arguments), cwd=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    left = [n for n in sorted(p.name for p in tmp_path.iterdir()) if n not in (*before, "cache")]
    assert left == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "--epochs", "1", "--out", "{folder}/c.safetensors"),
        ("path", "0", "1"),
        ("gallery", "--pairs", "2", "--out", "{folder}/g.html"),
        ("quality", "--methods", "epic_unit", "--graphs", "8", "--cost-epochs", "1"),
        pytest.param(
            (
                *("compare", "--methods", "drop_edge", "--splits", "1", "--seeds", "1", "--tune", "0", "--epochs", "1"),
                *("--results", "{folder}/compare.jsonl"),
            ),
            marks=pytest.mark.slow,
        ),
        ("augment", "--method", "epic_unit", "--count", "4", "--out", "{folder}/made"),
    ],
)
def test_every_verb_reads_a_csv_and_says_what_it_left_out(table, tmp_path, arguments):
    verb, *rest = (a.replace("{folder}", str(tmp_path)) for a in arguments)
    run = epic(verb, str(table), *rest, "--target", "kind")
    assert run.returncode == 0, run.stderr
    assert "labels 0 to 2 are taken for classes (--task values: for numbers)" in run.stderr
    assert "1 of 91 SMILES could not be parsed and were left out\nrow 90 (line 92): 'xyz'" in run.stderr
    run = epic(verb, str(table), *rest, "--target", "kind", "--task", "binary")
    assert run.returncode == 2
    assert "line 4: kind is '2', but binary labels are 0 or 1" in run.stderr


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_too_little_memory_is_told_in_a_sentence(monkeypatch, error):
    def app():
        raise error

    monkeypatch.setattr("epic.cli.verbs.app", app)
    run = epic()
    assert run.returncode == 2
    assert run.stderr.startswith("epic: this takes more memory than there is: ")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("train lollipop --epochs 1 --model hidden_channels=1.5", "hidden_channels must be a whole number"),
        ("train lollipop --epochs 1 --model hidden_channels=1000000000", "hidden_channels must be at most 16384"),
        ("train lollipop --epochs 1 --model num_layers=1000000", "num_layers must be at most 16384"),
        ("train lollipop --epochs 1 --device meta", "cannot use the device 'meta'"),
        ("train lollipop --epochs 1 --method drop_edge --set ratio=1e9", "ratio must be a number from 0 to 1000"),
        ("train lollipop --epochs 1 --workers 1000000000", "num_workers must be a whole number from 0 to"),
        ("train lollipop --updates 100000000000000000000", "Invalid value for '--updates'"),
        ("gallery lollipop --pairs 1000000000 --out x.html", "Invalid value for '--pairs'"),
        ("reproduce lollipop --dry --seeds 1000000000", "Invalid value for '--seeds'"),
    ],
)
def test_numbers_beyond_reason_are_refused_at_once(tmp_path, command, reason):
    run = epic(*command.split(), cwd=tmp_path)
    assert run.returncode == 2
    assert reason in run.stderr.replace("\n", " ")
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    "command",
    [
        "quality {link} --methods drop_edge --graphs 5 --json {link}",
        "path {link} 0 1 --out {link}",
        "gallery {link} --out {link}",
        "compare {small} --methods drop_edge --quick --results {link} --page {link}",
        "report --results {link} --out {link}",
        "reproduce lollipop --quick --results {link} --out {link}",
    ],
)
def test_what_is_read_or_kept_is_not_written_over(small, tmp_path, command):
    ending = ".json" if command.startswith("quality") else ".html"
    kept = tmp_path / "kept.safetensors"
    kept.write_bytes(small.read_bytes())
    link = tmp_path / f"link{ending}"
    link.symlink_to(kept)
    run = epic(*command.format(link=link, small=small).split())
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert f"cannot write {link}: it is {link}, which is needed; name another file" in run.stderr
    assert kept.read_bytes() == small.read_bytes()
