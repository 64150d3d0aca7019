"""Whether what Etch gives is right: against ONNX Runtime, real numbers and twins (docs/attack.md)."""

import groups
import nodes
from judging import Case, Finding, close, describe, judge, levels, same
from onnx import numpy_helper
from plans import simplest


class NotJudged(Exception):
    pass


def with_outputs(case, more, suffix, plans):
    """The same graph with more outputs."""
    b = case.builder
    names = list(dict.fromkeys([o.name for o in case.model.graph.output] + list(more)))
    model = type(case.model).FromString(case.model.SerializeToString())
    del model.graph.output[:], model.graph.initializer[:]
    model.graph.output.extend(b.port(n) for n in names)
    used = {n for node in b.nodes for n in b.names_in(node)} | set(names)
    model.graph.initializer.extend(numpy_helper.from_array(v, n) for n, v in b.constants.items() if n in used)
    outputs = [b.values[n] for n in names]
    return Case(case.name + suffix, model, case.inputs, outputs, plans, case.exact, case.qdq, [], b)


def computer(program, folder):
    """Gives the values of tensors by name: of graphs without QDQ those of the reference functions."""

    def compute(case, names):
        more = with_outputs(case, names, "_exposed", [simplest(case)])
        judged = judge(program, folder, [more])
        if judged.findings or more.name not in judged.values:
            why = [f.what for f in judged.findings] + [what for _, _, what in judged.refused]
            raise NotJudged(f"with more outputs: {why}")
        native, reference = judged.values[more.name]
        return dict(zip([o.name for o in more.model.graph.output], native if case.qdq else reference))

    return compute


def against_onnxruntime(case, native, reference, compute):
    """What is different, or ""; and how it was judged."""
    ours = native if case.qdq else reference
    if len(ours) != len(case.outputs):
        return f"{len(ours)} outputs for {len(case.outputs)}", "the number of outputs"
    if all(same(a, b) for a, b in zip(ours, case.outputs)) and not groups.is_wide(case):
        return "", "same bits"
    wrong = next((f"output {i}: {describe(a, b)}" for i, (a, b) in enumerate(zip(ours, case.outputs)) if not same(a, b)), "")
    if not case.qdq:
        if case.exact:
            return wrong, "same bits"
        if all(close(a, b) for a, b in zip(ours, case.outputs)):
            return "", "another order of sums"
    elif not groups.is_wide(case) and equals_a_level(case, ours):
        return "", "a level of ONNX Runtime"
    try:
        what = groups.unexplained(case, ours, compute) if case.qdq else nodes.unexplained(case, ours, compute)
    except NotJudged as error:
        what = str(error)
    return (f"{what}; {wrong}" if what else ""), "real numbers" if case.qdq else "node by node"


def equals_a_level(case, ours):
    """Whether each output is that of some level."""
    open_ = [i for i, (a, b) in enumerate(zip(ours, case.outputs)) if not close(a, b)]
    for values in levels(case) if open_ else []:
        open_ = [i for i in open_ if not close(ours[i], values[i])]
        if not open_:
            break
    return not open_


def examine(case, native, reference, compute):
    """Findings beyond those of the judge, and how the case was judged."""
    what, how = against_onnxruntime(case, native, reference, compute)
    out = [Finding(case, "onnxruntime", case.plans[0][2:], what)] if what else []
    for first, second in case.equal:
        if not same(native[first], native[second]):
            out.append(Finding(case, "twins", case.plans[0][2:], describe(native[first], native[second])))
    return out, how
