"""Three learners on the same stream, scored before they learn; a table and a picture.

python examples/compare_learners.py [PICTURE]
"""

import sys
from pathlib import Path

import numpy as np

from sharpstream import AdamConfig, CountsConfig, RecurrentConfig, RunConfig, SharpConfig, make_learner, open_stream

TOKENS, EVERY = 20_000, 1_000
ADAM = AdamConfig(lr=1e-3)  # the same step for both networks
CONFIG = RunConfig(
    sharp=SharpConfig(levels=2, width=32, embedding=8, depth=2, adam=ADAM),
    recurrent=RecurrentConfig(layers=1, width=32, embedding=8, adam=ADAM),
    counts=CountsConfig(order=4, table_bits=14),
)
picture = Path(sys.argv[1] if len(sys.argv) > 1 else "compare_learners.png")
stream = open_stream("nonlinear", seed=1)  # two rings and a hub: the last two visits decide the direction
tokens = stream.take(TOKENS)

curves = {}
for name in ("sharp", "gru", "counts"):
    bits = make_learner(CONFIG.replace(learner=name), stream.vocabulary).learn(tokens)
    curves[name] = bits.reshape(-1, EVERY).mean(axis=1)
    print(f"{name:8} {bits.mean():.3f} bits a token, {curves[name][-1]:.3f} over the last {EVERY:,}")

from matplotlib.figure import Figure  # noqa: E402  (only when there is something to draw)

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
for name, curve in curves.items():
    axes.plot(EVERY * np.arange(1, len(curve) + 1), curve, label=name)
axes.set(xlabel="tokens seen, each once", ylabel="bits per token (lower is better)")
axes.legend()
figure.savefig(picture, dpi=120)
print(f"drawn: {picture}")
