"""Models that are changed in ways that change no result, or a known part of it, of any graph: outputs twice, other orders,
cut in two, a batch in parts. Natively, with the first plan: bits have to be equal.
"""

import dataclasses

import numpy as np
from onnx import helper

from builder import session
from judging import Case, Finding, describe, judge, same
from shrinking import part
from verdict import with_outputs


@dataclasses.dataclass
class Related:
    kind: str
    of: Case
    case: Case
    expected: list  # of the first outputs


def unequal(program, folder, cases, values):
    """Findings, and how many models were run for them. `values` has what the cases themselves gave."""
    first = [each for case in cases for each in relatives(case, values[case.name][0])]
    found, count, cuts = [], 0, []
    for each, native in computed(program, folder, first, found):
        count += 1
        if each.kind == "cut":
            cuts += second_half(each, native)
    count += sum(1 for _ in computed(program, folder, cuts, found))
    return found, count


def computed(program, folder, related, found):
    """Runs them, and adds what differs to `found`."""
    if not related:
        return
    judged = judge(program, folder, [each.case for each in related])
    refused = {case.name for case, _, _ in judged.refused}
    found += judged.findings
    for each in related:
        name = each.case.name
        if name not in judged.values:
            if name not in refused or each.kind not in ("twice", "reordered", "cut"):
                continue  # crashed, which is a finding; or a shape is an input now, or something empty
            what = next(what for case, _, what in judged.refused if case.name == name)
            found.append(Finding(each.case, "relation", each.case.plans[0][2:], f"{each.kind}: refused: {what}"))
            continue
        native = judged.values[name][0]
        for i, (ours, expected) in enumerate(zip(native, each.expected)):
            if not same(ours, expected):
                what = f"{each.kind} of {each.of.name}: output {i}: {describe(ours, expected)}"
                found.append(Finding(each.case, "relation", each.case.plans[0][2:], what))
                break
        yield each, native


def relatives(case, native):
    plan = ["n" + case.plans[0][1:]]
    out = twice(case, native, plan) + [reordered(case, native, plan)]
    out += cut(case, native, plan) + batches(case, native, plan)
    return out


def copied(case, suffix, plan):
    model = type(case.model).FromString(case.model.SerializeToString())
    return Case(case.name + suffix, model, case.inputs, list(case.outputs), plan, case.exact, case.qdq, [], case.builder)


def twice(case, native, plan):
    """Each output a second time, by Identity."""
    other = copied(case, "_twice", plan)
    for output in case.model.graph.output:
        again = other.model.graph.output.add()
        again.CopyFrom(output)
        again.name = output.name + "_twice"
        other.model.graph.node.append(helper.make_node("Identity", [output.name], [again.name]))
    other.outputs += case.outputs
    return [] if case.qdq and depends_on_readers(case, other) else [Related("twice", case, other, native + native)]


def depends_on_readers(case, other):
    """Whether ONNX Runtime gives something else for outputs twice: a group that ends with Relu is another one where its
    product has one more reader."""
    feeds = dict(zip([i.name for i in case.model.graph.input], case.inputs))
    try:
        once, again = (session(m, "all").run(None, feeds) for m in (case.model, other.model))
    except Exception:  # means out of its range  # noqa: BLE001
        return False
    return not all(map(same, again, once + once))


def reordered(case, native, plan):
    """Nodes as late as possible instead of as early, constants the other way round."""
    other = copied(case, "_reordered", plan)
    graph, waiting, late = other.model.graph, list(case.model.graph.node), []
    while waiting:
        needed = {n for node in waiting for n in case.builder.names_in(node)}
        ready = [node for node in waiting if not needed & set(node.output)]
        late.append(ready[0])  # the first of those that no other one waits for is the last to run
        waiting.remove(ready[0])
    del graph.node[:]
    graph.node.extend(late[::-1])
    constants = list(graph.initializer)[::-1]
    del graph.initializer[:]
    graph.initializer.extend(constants)
    return Related("reordered", case, other, native)


def cut(case, native, plan):
    """The graph with a tensor within as one more output; second_half() has it as an input. In QDQ graphs a tensor of
    integers, and not what QuantizeLinear makes of a float that has other uses: another one would end or make a group."""
    b = case.builder
    outputs = {o.name for o in case.model.graph.output}
    kept = [node for node in b.nodes if not (case.qdq and shares_float(b, node, outputs))]
    inner = [o for node in kept for o in node.output if o and o not in outputs]
    inner = [n for n in inner if not case.qdq or b.values[n].dtype.kind in "iub"]
    if not inner:
        return []
    at = inner[len(case.name) * 7 % len(inner)] if len(inner) > 1 else inner[0]
    return [Related("cut", case, with_outputs(case, [at], "_cut", plan), native)]


def shares_float(b, node, outputs):
    """Whether the node quantizes a float that is used elsewhere, too, and whose group is another one without it."""
    uses = [i for other in b.nodes for i in b.names_in(other)]
    return node.op_type == "QuantizeLinear" and (node.input[0] in outputs or uses.count(node.input[0]) > 1)


def second_half(first, native):
    case, at = first.of, first.case.model.graph.output[-1].name
    b, ends = case.builder, [o.name for o in case.model.graph.output]
    after = part(case, ends, {at} | set(b.inputs), case.name + "_after")
    if after is None or at not in [i.name for i in after.model.graph.input]:
        return []
    made = {o for node in after.model.graph.node for o in node.output}
    if case.qdq and any(shares_float(b, node, ends) and node.output[0] not in made for node in b.nodes):
        return []  # what quantized a float that is an output has gone with the first half
    values = dict(zip([i.name for i in case.model.graph.input], case.inputs))
    values[at] = native[-1]
    after.inputs, after.plans = [values[i.name] for i in after.model.graph.input], first.case.plans
    return [Related("second half", case, after, first.expected)]


def batches(case, native, plan):
    """Each part of the batch alone, where ONNX Runtime says that parts do not depend on each other."""
    sizes = {v.shape[:1] for v in case.outputs}
    if len(sizes) != 1 or sizes == {()} or sizes == {(1,)}:
        return []
    (count,) = sizes.pop()
    inputs = [v.shape[:1] == (count,) for v in case.inputs]
    if not any(inputs) or count > 4:
        return []
    out = []
    for k in range(count):
        other = copied(case, f"_part{k}", plan)
        for ports, of_batch in ((other.model.graph.input, inputs), (other.model.graph.output, [True] * len(native))):
            for port, is_part in zip(ports, of_batch):
                if is_part:
                    port.type.tensor_type.shape.dim[0].dim_value = 1
        other.inputs = [np.ascontiguousarray(v[k : k + 1]) if p else v for v, p in zip(case.inputs, inputs)]
        other.outputs = [v[k : k + 1] for v in case.outputs]
        try:
            values = session(other.model).run(None, dict(zip([i.name for i in other.model.graph.input], other.inputs)))
        except Exception:  # constants state the batch  # noqa: BLE001
            return []
        if not all(map(same, values, other.outputs)):
            return []
        out.append(Related(f"part {k} of the batch", case, other, [v[k : k + 1] for v in native]))
    return out
