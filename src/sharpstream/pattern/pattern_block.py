"""A pattern block, compiled: condition the memory on the context from above, run the MLP, take credit for the error.

`forward` leaves in a `Trace` what `backward` needs; `backward` updates each weight in the same pass that reads it.
Called top-down and then bottom-up by the wake loop, and forwards only by evaluation and replay.
"""

from typing import Any, NamedTuple

import numpy as np

from sharpstream.config import SharpConfig
from sharpstream.kernels.adam import Step, adam_outer_backward, adam_vector
from sharpstream.kernels.adam_output import (
    FACTORED,
    FACTORED_NO_MOMENTUM,
    FULL,
    NO_MOMENTUM,
    adam_output_backward,
)
from sharpstream.kernels.elementary import gelu, gelu_backward, tanh_inplace
from sharpstream.kernels.jit import Array, inlined, kernel, lean_kernel
from sharpstream.kernels.linear import affine
from sharpstream.kernels.norm import layer_norm, layer_norm_backward
from sharpstream.kernels.views import copy, matrix, vector
from sharpstream.pattern.shapes import FIXED_ARRAYS

FILM, FILM_NORMED, CONCAT = range(3)  # kinds of conditioning
EVERY, BEFORE, BETWEEN = range(3)  # where GELU stands: before every linear, before all but the last, between them


class Arrays(NamedTuple):
    """One block's parameters or moments but for the MLP's linears, which are cut one by one."""

    norm: Array  # (H,) with `film-normed`, (2H,) with `concat`, else absent
    norm_bias: Array
    condition: Array  # (2H, H) film, (H, H) concat, absent at the top
    condition_bias: Array
    film_norm: Array  # (H,) with `film-normed`
    film_norm_bias: Array


class Form(NamedTuple):
    """What kind of block this is; numbers at run time, so that no choice causes recompilation."""

    depth: int
    kind: int  # FILM, FILM_NORMED or CONCAT
    placement: int  # EVERY, BEFORE or BETWEEN
    output: int  # what Adam keeps of the output layer: FULL, or less (kernels/adam_output.py)


class Trace(NamedTuple):
    """What a forward pass leaves for the backward pass, for all levels; the first axis is the level."""

    joined: Array  # (L, 2H) concat: the state beside the projected context
    hat: Array  # (L, 2H): normalised input of the first LayerNorm
    normed: Array  # (L, 2H): its output; with `film` the state itself
    film: Array  # (L, 2H): gain and shift (their tanh with `film-normed`)
    film_hat: Array  # (L, H)
    scale: Array  # (L, 2): 1/√(var + eps) of the two LayerNorms
    before: Array  # (L, depth + 1, 2H): input of each linear before its GELU; row 0 is the conditioned state
    after: Array  # (L, depth, 2H): what each linear was given


class Scratch(NamedTuple):
    """Gradients on their way down through one block."""

    delta: Array  # (2H,)
    back: Array  # (2H,)
    film: Array  # (2H,)
    small: Array  # (2H,)


def make_form(config: SharpConfig) -> Form:
    """The config's words as the numbers that compiled code reads."""
    kind = {"film": FILM, "film-normed": FILM_NORMED, "concat": CONCAT}[config.conditioning]
    placement = {"every": EVERY, "pre": BEFORE, "between": BETWEEN}[config.placement]
    output = {
        "full": FULL,
        "no-momentum": NO_MOMENTUM,
        "factored": FACTORED,
        "factored-no-momentum": FACTORED_NO_MOMENTUM,
    }[config.output_adam]
    return Form(config.depth, kind, placement, output)


def make_trace(config: SharpConfig) -> Trace:
    """A zeroed trace for all levels."""
    levels, wide = config.levels, 2 * config.width

    def zeros(*shape: int) -> Any:
        return np.zeros((levels, *shape), dtype=config.dtype)

    return Trace(
        joined=zeros(wide),
        hat=zeros(wide),
        normed=zeros(wide),
        film=zeros(wide),
        film_hat=zeros(config.width),
        scale=zeros(2),
        before=zeros(config.depth + 1, wide),
        after=zeros(config.depth, wide),
    )


def make_scratch(config: SharpConfig) -> Scratch:
    """Zeroed scratch."""
    return Scratch(*(np.zeros(2 * config.width, dtype=config.dtype) for _ in Scratch._fields))


@inlined
def _cut(buffer: Array, table: Array, form: Form, level: int) -> Arrays:
    r = (level - 1) * (FIXED_ARRAYS + 2 * form.depth)
    return Arrays(
        vector(buffer, table, r),
        vector(buffer, table, r + 1),
        matrix(buffer, table, r + 2),
        vector(buffer, table, r + 3),
        vector(buffer, table, r + 4),
        vector(buffer, table, r + 5),
    )


@kernel
def block_arrays(buffer: Array, table: Array, form: Form, level: int) -> Arrays:
    """Block ℓ's fixed arrays; pattern blocks begin at the layout's first row."""
    return _cut(buffer, table, form, level)


@lean_kernel
def borrowed_arrays(buffer: Array, table: Array, form: Form, level: int) -> Arrays:
    """The same for a lean kernel."""
    return _cut(buffer, table, form, level)


@lean_kernel
def mlp_row(form: Form, level: int, layer: int) -> int:
    """The layout row of a linear's weight; its bias is the next."""
    return (level - 1) * (FIXED_ARRAYS + 2 * form.depth) + FIXED_ARRAYS + 2 * layer


@lean_kernel
def has_gelu(form: Form, layer: int) -> bool:
    """Whether a GELU stands before this linear."""
    if form.placement == BEFORE:
        return layer < form.depth - 1
    return form.placement == EVERY or layer > 0


@lean_kernel
def listen(a: Arrays, form: Form, context: Array, trace: Trace, level: int) -> None:
    """What block ℓ hears from above, into its trace: gain and shift, or the projected context; nothing at the top."""
    i = level - 1
    if a.condition.shape[0] == 0:
        return
    if form.kind == CONCAT:
        affine(a.condition, a.condition_bias, context, trace.joined[i, context.size :])
        return
    affine(a.condition, a.condition_bias, context, trace.film[i])
    if form.kind == FILM_NORMED:
        tanh_inplace(trace.film[i])


@lean_kernel
def modulate(a: Arrays, form: Form, z: Array, trace: Trace, level: int) -> int:
    """The state as what was heard makes it, into trace.before[ℓ, 0]; returns its size (H or 2H)."""
    i, width = level - 1, z.size
    heard = a.condition.shape[0] > 0
    if form.kind == FILM:
        film_plain(z, trace.film[i], heard, trace.normed[i, :width], trace.before[i, 0, :width])
        return width
    if not heard:
        trace.scale[i, 0] = layer_norm(z, a.norm, a.norm_bias, trace.hat[i, :width], trace.before[i, 0, :width])
        return width
    if form.kind == FILM_NORMED:
        film_normed(a, z, trace, level)
        return width
    copy(z, trace.joined[i, :width])
    trace.scale[i, 0] = layer_norm(trace.joined[i], a.norm, a.norm_bias, trace.hat[i], trace.before[i, 0])
    return 2 * width


@lean_kernel
def film_plain(z: Array, film: Array, heard: bool, kept: Array, out: Array) -> None:
    """out ← g · z + b, or z at the top; the gradient of g needs z, which is kept."""
    copy(z, kept)
    if not heard:
        copy(z, out)
        return
    for j in range(z.size):
        out[j] = film[j] * z[j] + film[z.size + j]


@lean_kernel
def film_normed(a: Arrays, z: Array, trace: Trace, level: int) -> None:
    """LayerNorm((1 + g) · LayerNorm(z) + b), with g and b already in trace.film."""
    i, width = level - 1, z.size
    film, normed = trace.film[i], trace.normed[i]
    one = z.dtype.type(1)
    trace.scale[i, 0] = layer_norm(z, a.norm, a.norm_bias, trace.hat[i, :width], normed[:width])
    modulated = normed[width:]
    for j in range(width):
        modulated[j] = (one + film[j]) * normed[j] + film[width + j]
    trace.scale[i, 1] = layer_norm(
        modulated, a.film_norm, a.film_norm_bias, trace.film_hat[i], trace.before[i, 0, :width]
    )


@lean_kernel
def mlp(p: Array, table: Array, form: Form, level: int, size: int, trace: Trace, out: Array) -> None:
    """out ← the MLP of trace.before[ℓ, 0]."""
    i = level - 1
    for layer in range(form.depth):
        row = mlp_row(form, level, layer)
        given, taken = trace.before[i, layer, :size], trace.after[i, layer, :size]
        if has_gelu(form, layer):
            gelu(given, taken)
        else:
            copy(given, taken)
        result = out if layer == form.depth - 1 else trace.before[i, layer + 1, :size]
        affine(matrix(p, table, row), vector(p, table, row + 1), taken, result)


@lean_kernel
def forward(
    p: Array,
    table: Array,
    form: Form,
    level: int,
    z: Array,
    context: Array,
    listens: bool,
    trace: Trace,
    out: Array,
) -> None:
    """out ← f^ℓ(z, context): (H,), or logits (V,) at level 1. The top block reads no context.

    Without `listens` what the trace holds of the context still stands: neither it nor the block has changed since.
    """
    a = borrowed_arrays(p, table, form, level)
    if listens:
        listen(a, form, context, trace, level)
    size = modulate(a, form, z, trace, level)
    mlp(p, table, form, level, size, trace, out)


@lean_kernel
def backward(
    p: Array,
    m: Array,
    v: Array,
    table: Array,
    form: Form,
    level: int,
    delta_out: Array,
    context: Array,
    trace: Trace,
    c: Scratch,
    s: Step,
    delta_context: Array,
) -> None:
    """One Adam step on block ℓ from δ at its output; delta_context ← gradient of the context it read."""
    i = level - 1
    size = matrix(p, table, mlp_row(form, level, 0)).shape[1]
    delta, back = delta_out, c.back[:size]
    for layer in range(form.depth - 1, -1, -1):
        row = mlp_row(form, level, layer)
        w, mw, vw = matrix(p, table, row), matrix(m, table, row), matrix(v, table, row)
        b, mb, vb = vector(p, table, row + 1), vector(m, table, row + 1), vector(v, table, row + 1)
        if form.output != FULL and level == 1 and layer == form.depth - 1:
            adam_output_backward(w, mw, vw, delta, trace.after[i, layer, :size], back, s, form.output)
        else:
            adam_outer_backward(w, mw, vw, delta, trace.after[i, layer, :size], back, s)
        adam_vector(b, mb, vb, delta, s)
        if has_gelu(form, layer):
            gelu_backward(trace.before[i, layer, :size], back)
        delta = c.delta[:size]
        copy(back, delta)
    a = borrowed_arrays(p, table, form, level)
    am, av = borrowed_arrays(m, table, form, level), borrowed_arrays(v, table, form, level)
    heard = a.condition.shape[0] > 0
    if form.kind == FILM:
        if heard:
            film_backward(a, am, av, level, delta, context, trace, c, s, delta_context)
    elif not heard:
        norm_step(a.norm, am.norm, av.norm, a.norm_bias, am.norm_bias, av.norm_bias, delta, trace.hat[i, :size], c, s)
    elif form.kind == FILM_NORMED:
        film_normed_backward(a, am, av, level, delta, context, trace, c, s, delta_context)
    else:
        hat = trace.hat[i]
        layer_norm_backward(hat, trace.scale[i, 0], a.norm, delta, back)
        norm_step(a.norm, am.norm, av.norm, a.norm_bias, am.norm_bias, av.norm_bias, delta, hat, c, s)
        projected = back[context.size :]
        adam_outer_backward(a.condition, am.condition, av.condition, projected, context, delta_context, s)
        adam_vector(a.condition_bias, am.condition_bias, av.condition_bias, projected, s)


@lean_kernel
def film_backward(
    a: Arrays,
    am: Arrays,
    av: Arrays,
    level: int,
    delta: Array,
    context: Array,
    trace: Trace,
    c: Scratch,
    s: Step,
    delta_context: Array,
) -> None:
    """Back through g · z + b, where z is a memory that takes no gradient; δ is that of the conditioned state."""
    width = delta.size
    z = trace.normed[level - 1]
    for j in range(width):
        c.film[j] = delta[j] * z[j]
        c.film[width + j] = delta[j]
    adam_outer_backward(a.condition, am.condition, av.condition, c.film, context, delta_context, s)
    adam_vector(a.condition_bias, am.condition_bias, av.condition_bias, c.film, s)


@lean_kernel
def film_normed_backward(
    a: Arrays,
    am: Arrays,
    av: Arrays,
    level: int,
    delta: Array,
    context: Array,
    trace: Trace,
    c: Scratch,
    s: Step,
    delta_context: Array,
) -> None:
    """Back through LayerNorm, modulation and the first LayerNorm; δ is the gradient of the conditioned state."""
    i, width = level - 1, delta.size
    film, normed = trace.film[i], trace.normed[i]
    one = delta.dtype.type(1)
    modulated = c.back[:width]
    layer_norm_backward(trace.film_hat[i], trace.scale[i, 1], a.film_norm, delta, modulated)
    norm_step(
        a.film_norm, am.film_norm, av.film_norm, a.film_norm_bias, am.film_norm_bias, av.film_norm_bias,
        delta, trace.film_hat[i], c, s,
    )  # fmt: skip
    for j in range(width):
        gain, shift = film[j], film[width + j]
        c.film[j] = modulated[j] * normed[j] * (one - gain * gain)
        c.film[width + j] = modulated[j] * (one - shift * shift)
        modulated[j] *= one + gain
    norm_step(a.norm, am.norm, av.norm, a.norm_bias, am.norm_bias, av.norm_bias, modulated, trace.hat[i, :width], c, s)
    adam_outer_backward(a.condition, am.condition, av.condition, c.film, context, delta_context, s)
    adam_vector(a.condition_bias, am.condition_bias, av.condition_bias, c.film, s)


@lean_kernel
def norm_step(
    weight: Array,
    weight_m: Array,
    weight_v: Array,
    bias: Array,
    bias_m: Array,
    bias_v: Array,
    delta: Array,
    hat: Array,
    c: Scratch,
    s: Step,
) -> None:
    """One Adam step on a LayerNorm's scale and shift from δ at its output."""
    g = c.small[: hat.size]
    for j in range(hat.size):
        g[j] = delta[j] * hat[j]
    adam_vector(weight, weight_m, weight_v, g, s)
    adam_vector(bias, bias_m, bias_v, delta, s)
