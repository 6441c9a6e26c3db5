"""Learn from tokens of your own: any integers below a vocabulary, in any chunks, one look each.

python examples/own_tokens.py
"""

import numpy as np

from sharpstream import AdamConfig, Sharp, SharpConfig

EVENTS = ("start", "read", "write", "stop")
rng = np.random.default_rng(0)
tokens = np.tile([0, 1, 2, 3], 1_500)  # a machine that does the same again and again ...
tokens[rng.random(tokens.size) < 0.05] = 1  # ... and now and then reads out of turn

learner = Sharp(SharpConfig(levels=2, width=32, embedding=8, adam=AdamConfig(lr=3e-3)), vocabulary=len(EVENTS))
bits = learner.learn(tokens)
print(f"surprise per event: {bits[:200].mean():.2f} bits at first, {bits[-1000:].mean():.2f} at the end")

p = learner.predict()
print("next:", ", ".join(f"{event} {chance:.0%}" for event, chance in zip(EVENTS, p, strict=True)))
print(
    f"an event out of turn costs {learner.observe(int(p.argmin())):.1f} bits; a usual one {np.median(bits[-1000:]):.2f}"
)
