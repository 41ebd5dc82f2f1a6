import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax

from epic.classifiers.calibration import log_loss, temperature


def draws(count, classes, seed):
    """Log probabilities, and classes drawn by them."""
    rng = np.random.default_rng(seed)
    scores = log_softmax(rng.normal(size=(count, classes)) * 2, axis=1)
    code = (softmax(scores, axis=1).cumsum(1) < rng.random((count, 1))).sum(1)
    return scores, code


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("factor", [0.1, 1.0, 30.0])
def test_a_known_temperature_is_found(factor, classes):
    scores, code = draws(20_000, classes, 0)
    assert temperature(factor * scores, code) == pytest.approx(factor, rel=0.05)


def test_noise_is_cooled_to_equal_shares():
    scores = np.random.default_rng(0).normal(size=(5000, 3))
    code = np.arange(5000) % 3
    assert np.abs(softmax(scores / temperature(scores, code), axis=1) - 1 / 3).max() < 0.1


@pytest.mark.parametrize("count", [3, 30, 300])
def test_few_right_answers_make_no_certainty(count):
    code = np.arange(count) % 2
    scores = np.eye(2)[code] * 1e3
    found = softmax(scores / temperature(scores, code), axis=1)
    assert found.max() == pytest.approx((count + 1) / (count + 2), abs=1e-4)  # the closed form


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 60), st.floats(0.01, 100))
def test_order_stays_and_scale_does_not_matter(seed, classes, count, factor):
    scores, code = draws(count, classes, seed)
    t = temperature(scores, code)
    assert t > 0
    # Away from the bounds, scores in another unit have a temperature in that unit.
    if 0.02 < t < 20 and 0.02 < t * factor < 20:
        assert temperature(factor * scores, code) == pytest.approx(t * factor, rel=1e-3)


def test_log_loss_by_hand():
    scores, code = np.log([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 1])
    expected = -(np.log(0.5) + np.log(0.1)) / 2
    assert log_loss(scores, code) == pytest.approx(expected)
    assert log_loss(scores + np.array([[3.0], [-5.0]]), code) == pytest.approx(expected)
