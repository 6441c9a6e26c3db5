"""LayerNorm and softmax on one vector."""

import math

import numpy as np

from sharpstream.kernels.elementary import exp_shifted
from sharpstream.kernels.jit import Array, lean_kernel

EPS = 1e-5
LN2 = math.log(2.0)


@lean_kernel
def layer_norm(x: Array, weight: Array, bias: Array, hat: Array, out: Array) -> float:
    """hat ← (x − mean) / √(var + eps), out ← weight · hat + bias; returns 1/√(var + eps) for the backward pass."""
    kind = x.dtype.type
    mean = kind(0)
    for i in range(x.size):
        mean += x[i]
    mean /= kind(x.size)
    variance = kind(0)
    for i in range(x.size):
        variance += (x[i] - mean) * (x[i] - mean)
    scale = kind(1) / np.sqrt(variance / kind(x.size) + kind(EPS))
    for i in range(x.size):
        hat[i] = (x[i] - mean) * scale
        out[i] = weight[i] * hat[i] + bias[i]
    return scale


@lean_kernel
def layer_norm_backward(hat: Array, scale: float, weight: Array, delta: Array, back: Array) -> None:
    """back ← gradient of the input, from the gradient δ of the output."""
    kind = hat.dtype.type
    mean, aligned = kind(0), kind(0)
    for i in range(hat.size):
        mean += delta[i] * weight[i]
        aligned += delta[i] * weight[i] * hat[i]
    mean /= kind(hat.size)
    aligned /= kind(hat.size)
    for i in range(hat.size):
        back[i] = scale * (delta[i] * weight[i] - mean - hat[i] * aligned)


@lean_kernel
def softmax(logits: Array, p: Array) -> float:
    """p ← softmax of the logits; returns log Σ e^logit."""
    top = logits[0]
    for i in range(1, logits.size):
        top = max(top, logits[i])
    exp_shifted(logits, top, p)
    total = logits.dtype.type(0)
    for i in range(p.size):
        total += p[i]
    share = logits.dtype.type(1) / total
    for i in range(p.size):
        p[i] *= share
    return top + np.log(total)
