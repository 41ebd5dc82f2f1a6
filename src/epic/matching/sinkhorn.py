"""The soft assignment: Sinkhorn-Knopp with a slack for deletion and insertion, differentiable, for many pairs at once.

With K = exp(-S/delta) and slacks Kd = exp(-d/delta), Ki = exp(-i/delta) the iteration is ``u = 1 / (K v + Kd)``,
``v = 1 / (K^T u + Ki)``
from v = 1; the plan is ``diag(u) K diag(v)``. It is the entropic form of the assignment with edition, and needs n*m + n
+ m numbers.

Two things make it usable in float32. Each row's and then each column's smallest cost is taken out of the exponent, as
the Hungarian method begins; u and v carry these shifts, so the result is that of the plain iteration, to the last
iterate. And the gradient is computed in closed form from the stored u and v: every iteration's outer product is one
column of a single matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from epic.errors import InputError
from epic.graphs.ragged import padded_mask

# u and v can grow by a factor n at each iteration; after this many they are folded into the exponent again.
BLOCK = 10


@dataclass(frozen=True)
class SoftAssignment:
    """Shares in [0, 1]: ``plan[p, u, v]`` of u substituted by v, ``deleted[p, u]``, ``inserted[p, v]``; ``distance[p]``
    is their cost.
    """

    plan: Tensor
    deleted: Tensor
    inserted: Tensor
    distance: Tensor


def sinkhorn(
    substitution: Tensor,
    deletion: Tensor,
    insertion: Tensor,
    *,
    delta: float | Tensor,
    iterations: int = 10,
    rows: Tensor | None = None,
    columns: Tensor | None = None,
) -> SoftAssignment:
    """Solve the soft assignment of P padded pairs, or of one pair given without the leading dimension.

    Columns (target nodes) are fully assigned after every iteration; rows become so as ``iterations`` grows. Gradients
    flow to the three costs through all iterations.

    Args:
        substitution: prices ``[P, n, m]``.
        deletion: prices ``[P, n]``.
        insertion: prices ``[P, m]``.
        delta: blur in the unit of the costs, one number or one for each pair.
        iterations: number of iterations.
        rows: source nodes of each pair (default: n).
        columns: target nodes of each pair (default: m).

    Returns:
        The plan and its cost.
    """
    if iterations < 1:
        raise InputError(f"iterations must be at least 1, got {iterations}")
    if substitution.dim() == 2:
        one = sinkhorn(substitution[None], deletion[None], insertion[None], delta=delta, iterations=iterations)
        return SoftAssignment(one.plan[0], one.deleted[0], one.inserted[0], one.distance[0])
    pairs, n, m = substitution.shape
    blur = torch.as_tensor(delta, dtype=substitution.dtype, device=substitution.device).detach().expand(pairs)
    if bool((blur <= 0).any()):
        raise InputError(f"delta must be positive, got {float(blur.min())}")
    row, column = (
        padded_mask(torch.full((pairs,), size) if count is None else count, size).to(substitution.device)
        for size, count in ((n, rows), (m, columns))
    )
    plan, deleted, inserted = _Sinkhorn.apply(substitution, deletion, insertion, blur, row, column, iterations)
    # Padded entries of the plan are zero, but 0 * inf would not be.
    inside = row[:, :, None] & column[:, None, :]
    distance = (
        (plan * torch.where(inside, substitution, 0.0)).sum((1, 2))
        + (deleted * torch.where(row, deletion, 0.0)).sum(1)
        + (inserted * torch.where(column, insertion, 0.0)).sum(1)
    )
    return SoftAssignment(plan, deleted, inserted, distance)


def _kernel(f: Tensor, g: Tensor, cost: Tensor, d: Tensor, i: Tensor, delta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return K, Kd and Ki with the shifts f and g taken out."""
    scale = delta[:, None]
    K = torch.exp((f[:, :, None] + g[:, None, :] - cost) / delta[:, None, None])
    return K, torch.exp((f - d) / scale), torch.exp((g - i) / scale)


def _times(K: Tensor, v: Tensor) -> Tensor:
    return torch.bmm(K, v.unsqueeze(2)).squeeze(2)


def _times_t(K: Tensor, u: Tensor) -> Tensor:
    return torch.bmm(u.unsqueeze(1), K).squeeze(1)


class _Sinkhorn(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, S: Tensor, d: Tensor, i: Tensor, delta: Tensor, row: Tensor, column: Tensor, iterations: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        tiny = torch.finfo(S.dtype).tiny
        scale = delta[:, None]
        cost = S.masked_fill(~(row[:, :, None] & column[:, None, :]), torch.inf)
        d, i = d.masked_fill(~row, 0.0), i.masked_fill(~column, 0.0)
        f = torch.minimum(cost.amin(2), d) if S.shape[2] else d.clone()
        g = torch.minimum((cost - f[:, :, None]).amin(1), i) if S.shape[1] else i.clone()
        v = torch.exp(-g / scale)  # the plain start v = 1, in shifted units
        blocks, done = [], 0
        while True:
            K, Kd, Ki = _kernel(f, g, cost, d, i, delta)
            us, vs = [], [v]
            for _ in range(min(BLOCK, iterations - done)):
                u = 1.0 / (_times(K, v) + Kd).clamp_min(tiny)
                v = 1.0 / (_times_t(K, u) + Ki).clamp_min(tiny)
                us.append(u)
                vs.append(v)
            blocks.append((f, g, us, vs))
            done += len(us)
            if done >= iterations:
                break
            f, g = f + scale * u.log(), g + scale * v.log()
            v = torch.ones_like(v)
        plan = u[:, :, None] * K * v[:, None, :]
        deleted, inserted = (u * Kd).masked_fill(~row, 0.0), (v * Ki).masked_fill(~column, 0.0)
        if any(ctx.needs_input_grad[:3]):
            ctx.save_for_backward(cost, d, i, delta, plan, deleted, inserted)
            ctx.row, ctx.column, ctx.blocks, ctx.last = row, column, blocks, (K, Kd, Ki)
        return plan, deleted, inserted

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g_plan: Tensor, g_deleted: Tensor, g_inserted: Tensor) -> Any:
        cost, d, i, delta, plan, deleted, inserted = ctx.saved_tensors
        scale = delta[:, None]
        # All gradients below are with respect to logarithms, which keeps them of the size of the plan.
        total = g_plan * plan
        total_d, total_i = g_deleted * deleted, g_inserted * inserted
        on_u = total.sum(2) + total_d
        on_v = total.sum(1) + total_i
        for b, (f, g, us, vs) in enumerate(reversed(ctx.blocks)):
            K, Kd, Ki = _kernel(f, g, cost, d, i, delta) if b else ctx.last
            left, right = [], []
            for t in reversed(range(len(us))):
                u, v, v_before = us[t], vs[t + 1], vs[t]
                back = -on_v * v  # through v = 1 / (K^T u + Ki)
                total_i = total_i + back * Ki
                left.append(u)
                right.append(back)
                on_u = on_u + u * _times(K, back)
                back = -on_u * u  # through u = 1 / (K v + Kd)
                total_d = total_d + back * Kd
                left.append(back)
                right.append(v_before)
                on_v = v_before * _times_t(K, back)
                on_u = torch.zeros_like(on_u)
            outer = torch.bmm(torch.stack(left, 2), torch.stack(right, 1))
            total = total + torch.where(K > 0, outer * K, 0.0)
        return (
            -total / delta[:, None, None],
            (-total_d / scale).masked_fill(~ctx.row, 0.0),
            (-total_i / scale).masked_fill(~ctx.column, 0.0),
            *(None, None, None, None),
        )
