"""Adam for pattern block 1 whose output layer keeps less: the PyTorch twin of `kernels/adam_output.py`.

Every other parameter is stepped by torch. The output layer's moments have the names and shapes of torch's, so that the
exchange of states knows nothing of this: what is not kept is 0, and row and column squares stand at the front of v.
"""

from typing import Any

import torch
from torch import Tensor, nn

from sharpstream.kernels.adam_output import TINY


class OutputAdam(torch.optim.Adam):
    """Adam that treats one matrix of its own, (V, H), in its own way."""

    def __init__(
        self, groups: list[dict[str, Any]], output: nn.Parameter, *, momentum: bool, factored: bool, **settings: Any
    ) -> None:
        super().__init__(groups, **settings)
        self.output, self.momentum, self.factored = output, momentum, factored

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Torch's step for the others, then ours for the output layer."""
        gradient, self.output.grad = self.output.grad, None
        super().step()
        self.output.grad = gradient
        if gradient is not None:
            self._step_output(gradient)

    def _step_output(self, gradient: Tensor) -> None:
        group, p = self.param_groups[0], self.output
        (beta1, beta2), kept = group["betas"], self.state[p]
        if not kept:
            kept |= {"step": torch.tensor(0.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
        kept["step"] += 1
        t, first = float(kept["step"]), gradient + group["weight_decay"] * p
        correction = 1.0
        if self.momentum:
            kept["exp_avg"].mul_(beta1).add_((1 - beta1) * first)
            first, correction = kept["exp_avg"], 1 - beta1**t
        second = self._factored(kept["exp_avg_sq"], gradient, beta2) if self.factored else kept["exp_avg_sq"]
        if not self.factored:
            second.mul_(beta2).add_((1 - beta2) * first * first)
        p.sub_(group["lr"] / correction * first / (second.sqrt() / (1 - beta2**t) ** 0.5 + group["eps"]))

    def _factored(self, second: Tensor, gradient: Tensor, beta2: float) -> Tensor:
        """v_ij = r_i c_j / mean(r), from mean squares of the rows and columns of the gradient without its decay."""
        (rows, columns), flat, squares = second.shape, second.view(-1), gradient * gradient
        r, c = flat[:rows], flat[rows : rows + columns]
        r.mul_(beta2).add_((1 - beta2) * squares.mean(1))
        c.mul_(beta2).add_((1 - beta2) * squares.mean(0))
        return torch.outer(r / r.mean().clamp(min=TINY), c)
