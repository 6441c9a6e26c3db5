"""pg19-subword: what a token costs, also by the character, and every arm as the scale says; without any corpus."""

from dataclasses import replace

import numpy as np
import pytest

from sharpstream.evaluate.rows import MADE_BY, Row
from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Job, reproduce
from sharpstream.experiments.language import pg19_subword as study
from sharpstream.experiments.language.pg19_subword import SCALES, config_of
from sharpstream.experiments.language.rarity import rarity_rows, rarity_table
from sharpstream.experiments.language.subword_page import options_table
from sharpstream.factory import make_learner, model_of
from sharpstream.streams import open_stream
from sharpstream.streams.tokenizer import byte_of


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SHARP_DATA", raising=False)


def settings(arm, scale="quick", protocol="fair"):
    return {"scale": scale, "protocol": protocol, "arm": arm, "repetition": 0}


def test_bits_accuracy_and_bits_per_character_are_those_of_the_learner(tmp_path):
    rows = study.work(Job("", settings("counts-1")), tmp_path / "run")
    config = config_of(settings("counts-1"))
    stream = open_stream(config.stream, seed=0)
    tokens = stream.take(config.tokens)
    learner = make_learner(config, stream.vocabulary)
    bits, right = learner.learn(tokens), learner.correct
    one = {row["metric"]: row["value"] for row in rows if row["place"] is None}
    assert one["bits"] == pytest.approx(bits.mean())
    assert one["accuracy"] == pytest.approx(right.mean())
    text = bytes(byte_of(letter) for token in tokens for letter in stream.symbols[token]).decode()
    assert one["bits_per_character"] == pytest.approx(bits.sum() / len(text))
    stream.seek(2 * config.tokens)
    ahead = stream.take(SCALES["quick"].probe)
    forward = learner.evaluate(ahead)
    assert one["forward_bits"] == pytest.approx(forward.mean())
    assert one["forward_accuracy"] == pytest.approx(learner.correct.mean())
    assert one["forward_bits_per_character"] == pytest.approx(forward.sum() / stream.characters[ahead].sum())


def test_a_token_costs_by_how_often_it_was_read_before(tmp_path):
    stamp = {**dict.fromkeys(MADE_BY, "-"), "arm": "counts-1", "segment": 0, "seed": 0, "token_budget": 12}
    learned, text = np.array([0] * 10 + [1, 2]), np.array([0, 0, 1, 3])
    learner = make_learner(config_of(settings("counts-1")), vocabulary=4)
    learner.learn(learned)
    rows = rarity_rows(learner, text, learned, stamp)
    bits = learner.evaluate(text)
    found = {(row["metric"], row["place"]): row["value"] for row in rows}
    assert found["bits_by_count", 10] == pytest.approx(bits[:2].mean())
    assert found["bits_by_count", 1] == pytest.approx(bits[2])
    assert found["bits_by_count", 0] == pytest.approx(bits[3])
    assert [found["share_by_count", least] for least in (0, 1, 10)] == [0.25, 0.25, 0.5]
    assert len(found) == 6
    table = rarity_table([Row(row) for row in rows], ["rnn", "counts-1"], "Rare").splitlines()
    assert "| share of the tokens | 25.0% | 25.0% | 50.0% | – | – | – |" in table
    assert f"| Counts, order 1 | {bits[3]:.2f} | {bits[2]:.2f} | {bits[:2].mean():.2f} | – | – | – |" in table
    assert len([line for line in table if line.startswith("| ")]) == 3


@pytest.mark.parametrize("scale", SCALES)
def test_every_neural_arm_reads_the_frozen_vectors_with_the_published_step(scale):
    for job in study.jobs(scale, "fair"):
        config = config_of(job.settings)
        if job.settings["arm"] not in study.SIMPLE:
            model = model_of(config)
            assert model.input_size == SCALES[scale].sharp.input_size > 0
            changed = {"eps": study.EPSILON} if job.settings["arm"].endswith("epsilon") else {}
            assert model.adam == replace(recipes.pg19_subword().sharp.adam, **changed)


def test_the_laptop_scale_is_the_papers_model_at_width_128():
    sharp, recipe = config_of(settings("sharp", "laptop")).sharp, recipes.pg19_subword().sharp
    assert (sharp.width, sharp.levels, sharp.depth, sharp.decoder, sharp.gamma) == (128, 4, 4, "recall", 0.5)
    assert (sharp.sleep.tags, sharp.sleep.replay_length, sharp.sleep.top_k) == (50, 257, 50)
    assert config_of(settings("sharp", "paper")).sharp == recipe
    assert config_of(settings("transformer", "laptop")).transformer.chunk == 256
    assert config_of(settings("rnn", "laptop", "paper")).reset_states_per_book
    assert not config_of(settings("rnn", "laptop")).reset_states_per_book


def test_the_recipe_opens_its_stream():
    assert recipes.pg19_subword().stream.name == SCALES["paper"].stream


def test_an_option_of_adam_is_its_arm_on_the_first_part_of_the_text():
    option, arm = (config_of(settings(name, "laptop")) for name in ("sharp-factored", "sharp"))
    assert option.tokens == SCALES["laptop"].options < arm.tokens
    assert option.sharp == replace(arm.sharp, output_adam="factored")
    assert (option.stream, option.seed) == (arm.stream, arm.seed)
    assert config_of(settings("rnn-epsilon", "laptop")).recurrent.adam.eps == study.EPSILON


def test_an_option_is_compared_on_what_its_arm_has_read_too():
    def row(arm, metric, tokens, value):
        stamp = {"arm": arm, "segment": 0, "seed": 0, "token_budget": tokens}
        return Row({**dict.fromkeys(MADE_BY, "-"), **stamp, "metric": metric, "tokens": tokens, "value": value})

    curves = {"sharp": (9.0, 8.0, 1.0), "sharp-epsilon": (8.5, 7.0)}
    rows = [row(arm, "curve", 100 * n, bits) for arm, curve in curves.items() for n, bits in enumerate(curve, start=1)]
    rows += [row("sharp", "seconds_per_1000", 300, 4.0), row("sharp-epsilon", "seconds_per_1000", 200, 1.0)]
    table = options_table(rows, {"sharp-epsilon": "sharp", "rnn-epsilon": "rnn"})
    assert "| 200 | 7.750 | -0.750 | -1.000 | 0.25 |" in table
    assert "RNN" not in table


@pytest.mark.parametrize("arm", ["unigram", "sharp"])
def test_it_runs_from_a_command_without_any_corpus(arm, tmp_path):
    out = tmp_path / "out"
    rows = reproduce("pg19-subword", "quick", "fair", out, workers=1, command="sharp reproduce", only=arm)
    measured = {"bits", "bits_per_character", "bits_clipped", "forward_bits", "retention"}
    if arm == "sharp":
        measured.add("heard")
    assert measured <= {row["metric"] for row in rows}
    page = (out / "RESULTS.md").read_text()
    assert "| learner | bits per token | bits per character | accuracy | capped |" in page
    assert (out / "pg19-subword.png").stat().st_size > 0
