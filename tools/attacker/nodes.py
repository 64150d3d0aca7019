"""Graphs without QDQ, node by node: each from the values that Etch's reference functions have for its inputs.

So a float that another order of sums moves across a limit of rounding is no difference further on, and integers have to be
equal everywhere.
"""

from builder import Unbuildable
from judging import close, describe, same


def unexplained(case, reference, compute):
    """The first node that gives something else than ONNX Runtime for the same inputs, or ""."""
    b = case.builder
    ours = compute(case, [o for n in b.nodes for o in n.output if o])
    for name, value in zip([o.name for o in case.model.graph.output], reference):
        if not same(value, ours[name]):
            return f"{name} is another with all tensors as outputs"
    values = {**b.values, **ours}
    for node in b.nodes:
        try:
            theirs = b.again(node, values)
        except Unbuildable as error:
            return f"not evaluated: {error}"
        for name, value in zip(node.output, theirs):
            if name and not (close if name in b.loose else same)(ours[name], value):
                return f"{node.op_type} {name}: {describe(ours[name], value)}"
    return ""
