"""pg19-subword: what a token costs, also by the character, and every arm as the scale says; without any corpus."""

import pytest

from sharpstream.experiments import recipes
from sharpstream.experiments.harness import Job, reproduce
from sharpstream.experiments.language import pg19_subword as study
from sharpstream.experiments.language.pg19_subword import SCALES, config_of
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


@pytest.mark.parametrize("scale", SCALES)
def test_every_neural_arm_reads_the_frozen_vectors_with_the_published_step(scale):
    for job in study.jobs(scale, "fair"):
        config = config_of(job.settings)
        if job.settings["arm"] not in study.SIMPLE:
            model = model_of(config)
            assert model.input_size == SCALES[scale].sharp.input_size > 0
            assert model.adam == recipes.pg19_subword().sharp.adam


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


@pytest.mark.parametrize("arm", ["unigram", "sharp"])
def test_it_runs_from_a_command_without_any_corpus(arm, tmp_path):
    out = tmp_path / "out"
    rows = reproduce("pg19-subword", "quick", "fair", out, workers=1, command="sharp reproduce", only=arm)
    measured = {"bits", "bits_per_character", "bits_clipped", "forward_bits", "retention"}
    assert measured <= {row["metric"] for row in rows}
    page = (out / "RESULTS.md").read_text()
    assert "| learner | bits per token | bits per character | accuracy | capped |" in page
    assert (out / "pg19-subword.png").stat().st_size > 0
