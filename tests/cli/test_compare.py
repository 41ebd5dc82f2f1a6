import pytest

from tests.cli.command import epic


@pytest.mark.slow
def test_compare_gives_a_verdict_and_goes_on(small, tmp_path):
    command = ("compare", str(small), "--methods", "epic_unit", "--seeds", "1", "--tune", "0", "--epochs", "2")
    run = epic(*command, "--splits", "3", "--budget", "0s", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "too few runs to say" in run.stdout
    assert "Stopped before the end" in run.stdout
    run = epic(*command, "--splits", "3", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "3/3" in run.stdout
    assert "too few" not in run.stdout
    assert "Stopped" not in run.stdout
