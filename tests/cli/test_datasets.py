from tests.cli.command import epic


def test_datasets_lists_what_is_here():
    run = epic("datasets")
    assert run.returncode == 0
    assert "lollipop" in run.stdout
    assert "NCI1" in run.stdout
