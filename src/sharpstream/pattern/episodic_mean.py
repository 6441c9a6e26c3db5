"""The mean of what mixers and network have learned, for frozen passes: awake they chase what is being read.

Their steps never vanish, so that they follow a stream that changes. A frozen pass reads something else, for which the
mean over the later part of the stream is better than its last moment: a look is taken now and then, and the later looks
weigh more. `episodic_loop.py` calls `take_mean`, `episodic.py` reads the means.
"""

from sharpstream.kernels.jit import Array, lean_kernel

MEANS = ("weights", "finals", "inputs", "read", "bias")  # of the pattern: its field mean_NAME is the mean of NAME
LATER = 3.0  # look n of k weighs like n^LATER
MOST_LOOKS = 1_000  # then the mean forgets as fast as it learns


@lean_kernel
def take_mean(
    looks: Array, weights: Array, finals: Array, inputs: Array, read: Array, bias: Array, mean_weights: Array,
    mean_finals: Array, mean_inputs: Array, mean_read: Array, mean_bias: Array,
) -> None:  # fmt: skip
    """One more look; looks (1,) counts them."""
    looks[0] = min(looks[0] + 1, MOST_LOOKS)
    share = (1.0 + LATER) / (looks[0] + LATER)
    move(mean_weights, weights, share)
    move(mean_finals, finals, share)
    move(mean_inputs, inputs, share)
    move(mean_read, read, share)
    move(mean_bias, bias, share)


@lean_kernel
def move(mean: Array, present: Array, share: float) -> None:
    """mean ← mean + share · (present − mean)."""
    part = mean.dtype.type(share)
    for i in range(mean.size):
        mean[i] += part * (present[i] - mean[i])
