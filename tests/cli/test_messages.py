"""What goes to stderr, by -v and -q."""

import logging
import warnings

import pytest

from epic.cli.messages import configure, progress, silent


@pytest.mark.parametrize(
    ("verbose", "quiet", "levels"),
    [(False, False, ["info", "warning"]), (True, False, ["debug", "info", "warning"]), (False, True, ["warning"])],
)
def test_levels(capsys, verbose, quiet, levels):
    configure(verbose, quiet)
    logger = logging.getLogger("epic.somewhere")
    for level in ("debug", "info", "warning"):
        getattr(logger, level)("%s " + "long " * 40 + "[bold]", level)
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split()[0] for line in err.splitlines()] == levels
    assert all(line.endswith("long [bold]") for line in err.splitlines()), "neither wrapped nor marked up"
    assert progress() is not quiet


def test_warnings_are_plain_sentences(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        configure(False, False)
        try:
            warnings.warn("No connected order exists for 3 of 64 pairs.", stacklevel=1)
        finally:
            logging.captureWarnings(False)
    assert capsys.readouterr().err == "No connected order exists for 3 of 64 pairs.\n"


def test_a_silenced_logger_speaks_again_afterwards(capsys):
    configure(False, False)
    logger = logging.getLogger("epic.somewhere")
    with silent("epic.somewhere"):
        logger.warning("not heard")
        logger.error("heard")
    logger.info("heard again")
    assert capsys.readouterr().err == "heard\nheard again\n"
