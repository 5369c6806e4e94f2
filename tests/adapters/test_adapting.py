"""A Python function is evaluated as our own model is."""

import numpy as np
import pytest
import torch

import assent
import toy
from adapters.comparing import measured
from assent.errors import ConfigError, DataError

KINDS = {
    "numpy": lambda scores: scores.numpy(),
    "float64": lambda scores: scores.numpy().astype(np.float64),
    "torch": lambda scores: scores.clone().requires_grad_(),
    "lists": lambda scores: scores.tolist(),
    "fortran order": lambda scores: np.asfortranarray(scores.numpy()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_is_measured_as_the_model_behind_it(ours, kind):
    def function(anchors, relations):
        assert anchors.dtype == relations.dtype == np.int64
        return KINDS[kind](
            ours.model.scores(torch.from_numpy(anchors), torch.from_numpy(relations))
        )

    assert measured(assent.adapt(ours.benchmark, function)) == measured(ours)


def test_a_benchmark_may_be_a_folder(ours, tmp_path):
    assent.save(ours.benchmark, tmp_path / "benchmark")
    run = assent.adapt(tmp_path / "benchmark", lambda anchors, relations: None)
    assert run.benchmark.digest() == ours.benchmark.digest()


def test_what_is_masked_leaves_no_trace_in_the_functions_own_array(ours):
    names = ours.benchmark.vocabulary
    everything = np.zeros((2 * names.num_relations, names.num_entities, names.num_entities))
    everything = everything.astype(np.float32)
    run = assent.adapt(ours.benchmark, lambda anchors, relations: everything[relations[0], anchors])
    assent.tune(run)
    assert not everything.any()


def test_a_function_may_change_the_ids_it_gets(ours):
    def function(anchors, relations):
        anchors += 1000
        return np.full((len(anchors), ours.benchmark.vocabulary.num_entities), np.nan)

    with pytest.raises(DataError, match="is nan"):
        assent.tune(assent.adapt(ours.benchmark, function))


SIZE = 30  # entities
WRONG = {
    "too few columns": (lambda n: np.zeros((n, SIZE - 1)), r"shape \(\d+, 29\); expected \(\d+, 3"),
    "too few rows": (lambda n: np.zeros((n - 1, SIZE)), "a row for each query"),
    "one number": (lambda n: 3.0, r"shape \(\); expected"),
    "three dimensions": (lambda n: np.zeros((n, SIZE, 1)), "expected"),
    "nothing": (lambda n: None, "type object; expected numbers"),
    "text": (lambda n: np.full((n, SIZE), "1"), "expected numbers"),
    "truth values": (lambda n: np.zeros((n, SIZE), bool), "type bool; expected numbers"),
    "complex numbers": (lambda n: torch.zeros(n, SIZE, dtype=torch.cfloat), "expected numbers"),
    "ragged lists": (lambda n: [[1.0]] + [[1.0, 2.0]] * (n - 1), "no array of scores"),
    "nan": (lambda n: np.full((n, SIZE), np.nan), r"tail of \(.*\): the score of 'e.*' is nan"),
    "inf": (lambda n: torch.full((n, SIZE), torch.inf), "is inf; expected a finite number"),
    "too large": (lambda n: np.full((n, SIZE), 1e300), "is 1e\\+300; expected"),
    "too small": (lambda n: np.full((n, SIZE), -1e300), "is -1e\\+300; expected"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_scores_that_are_none_are_refused_in_one_line(ours, wrong):
    give, message = WRONG[wrong]
    benchmark = ours.benchmark
    assert benchmark.vocabulary.num_entities == SIZE
    run = assent.adapt(benchmark, lambda anchors, relations: give(len(anchors)))
    with pytest.raises(DataError, match=f"^the function: .*{message}") as refused:
        assent.tune(run)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int8])
def test_scores_of_few_bits_will_do(ours, dtype):
    run = assent.adapt(ours.benchmark, lambda a, r: torch.ones(len(a), SIZE, dtype=dtype))
    assert assent.evaluate(run, assent.tune(run)).ranks.higher.sum() == 0


def test_a_model_that_names_no_candidate_accepts_nothing(ours):
    run = assent.adapt(ours.benchmark, lambda a, r: np.full((len(a), SIZE), -np.inf))
    evaluation = assent.evaluate(run, assent.tune(run))
    assert not evaluation.accepted.any() and evaluation.f1() == 0


def test_what_is_no_scorer_is_refused(ours):
    with pytest.raises(ConfigError, match="found a int"):
        assent.adapt(ours.benchmark, 3)


@pytest.mark.parametrize("given", [(object(),), (len,), (len, assent.build(toy.whole()))])
def test_a_model_without_a_benchmark_is_told_what_it_needs_in_one_line(given):
    with pytest.raises(ConfigError, match=r"^adapt: .*assent\.adapt\(benchmark, result\)$"):
        assent.adapt(*given)
