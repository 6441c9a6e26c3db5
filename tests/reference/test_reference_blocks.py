"""Blocks of other kinds take the paper's place and learn."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from sharpstream.config import AdamConfig
from sharpstream.reference.blocks import DiagonalContextBlock, GruContextBlock, LstmContextBlock
from sharpstream.reference.sharp import ReferenceSharp

torch.set_num_threads(1)


@pytest.mark.parametrize("block", [LstmContextBlock, GruContextBlock, DiagonalContextBlock])
def test_a_memory_of_another_kind_learns_a_stream_awake_and_asleep(block, small):
    config = replace(small, tau=0.01, adam=AdamConfig(lr=5e-3))
    learner = ReferenceSharp(config, 7, context_block=block)
    bits = learner.learn(np.arange(600) % 7)
    assert learner.sleeps == 2
    assert bits[-50:].mean() < 0.3 < bits[:50].mean()
    assert learner.recon_sum[0] / learner.recon_count[0] < np.log(7)
    assert learner.sleep_reports[0]["levels"]["2"]["updates"] > 0


class OneLayer(nn.Module):
    """The smallest pattern block: what is remembered beside what is said above, one linear."""

    def __init__(self, config, vocabulary, level):
        super().__init__()
        above = 0 if level == config.levels else config.width
        self.linear = nn.Linear(config.width + above, vocabulary if level == 1 else config.width)

    def forward(self, z, context):
        return self.linear(z if context is None else torch.cat([z, context], dim=-1))


def test_a_pattern_block_of_the_users_own_learns(small):
    learner = ReferenceSharp(replace(small, adam=AdamConfig(lr=5e-3)), 7, pattern_block=OneLayer)
    bits = learner.learn(np.arange(400) % 7)
    assert bits[-50:].mean() < 0.5 < bits[:50].mean()


def test_a_users_own_blocks_are_seeded_and_round_trip(small, tokens):
    first = ReferenceSharp(small, 7, seed=3, context_block=LstmContextBlock)
    again = ReferenceSharp(small, 7, seed=3, context_block=LstmContextBlock)
    other = ReferenceSharp(small, 7, seed=4, context_block=LstmContextBlock)
    assert np.array_equal(first.learn(tokens[:300]), again.learn(tokens[:300]))
    other.load_state_dict(first.state_dict())
    assert np.array_equal(first.learn(tokens[300:600]), other.learn(tokens[300:600]))
