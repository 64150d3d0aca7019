"""Smaller models with the same fault: parts of a graph, with the values that tensors had as inputs."""

from onnx import helper, numpy_helper

from judging import Case, close, judge, same
from plans import simplest


def part(case, ends, starts, name):
    """What computes `ends` from `starts` and constants, or None."""
    b, nodes, needed, seen = case.builder, [], list(ends), set()
    by_output = {o: node for node in b.nodes for o in node.output}
    while needed:
        tensor = needed.pop()
        if tensor in starts or tensor in seen or tensor not in by_output:
            continue
        node = by_output[tensor]
        seen.update(node.output)
        if node not in nodes:
            nodes.append(node)
            needed += b.names_in(node)
    nodes = [node for node in b.nodes if node in nodes]
    made = {o for node in nodes for o in node.output}
    used = dict.fromkeys(n for node in nodes for n in b.names_in(node) if n not in made)
    inputs = [n for n in used if n not in b.constants]
    if not nodes or not inputs:
        return None
    graph = helper.make_graph(
        nodes,
        "part",
        [b.port(n) for n in inputs],
        [b.port(n) for n in ends],
        [numpy_helper.from_array(b.constants[n], n) for n in used if n in b.constants],
    )
    model = b.wrap(graph, b.domains)
    return Case(
        name, model, [b.values[n] for n in inputs], [b.values[n] for n in ends], case.plans, case.exact, case.qdq, [], b
    )


def failing(program, folder, cases, kinds):
    cases = [case for case in cases if case is not None]
    if not cases:
        return []
    bad = {finding.case.name for finding in judge(program, folder, cases).findings if finding.kind in kinds}
    return [case for case in cases if case.name in bad]


def single_nodes(program, folder, finding):
    """Of a difference from ONNX Runtime: the nodes that differ by themselves."""
    case, parts = finding.case, []
    for i, node in enumerate(case.builder.nodes):
        ends = [o for o in node.output if o]
        parts.append(part(case, ends, set(case.builder.values) - set(ends), f"{case.name}_node{i}"))
    parts = [p for p in parts if p is not None]
    for p in parts:
        p.plans = [simplest(case)]
    values = judge(program, folder, parts).values
    out = []
    for p in parts:
        if p.name in values:
            exact = not case.builder.loose & {o.name for o in p.model.graph.output}
            if not all((same if exact else close)(a, c) for a, c in zip(values[p.name][1], p.outputs)):
                out.append(p)
    return out


def shrink(program, folder, finding):
    """The smallest part found with a finding of the same kind; the case itself if none is smaller."""
    case, kinds = finding.case, {finding.kind}
    if finding.kind == "onnxruntime":
        found = single_nodes(program, folder, finding)
        return found[0] if found else case
    if finding.kind not in ("differ", "unequal", "crash"):
        return case
    tensors = [o for node in case.builder.nodes for o in node.output if o]
    cut = failing(program, folder, [part(case, [t], set(), f"{case.name}_to_{t}") for t in tensors], kinds)
    best = min(cut, key=lambda c: len(c.model.graph.node), default=case)
    for _ in range(4):
        ends = [o.name for o in best.model.graph.output]
        inner = [o for node in best.model.graph.node for o in node.output if o and o not in ends]
        shorter = [
            part(case, ends, {t} | {i.name for i in best.model.graph.input}, f"{best.name}_from_{t}") for t in inner
        ]
        shorter = failing(program, folder, shorter, kinds)
        smaller = min(shorter, key=lambda c: len(c.model.graph.node), default=best)
        if len(smaller.model.graph.node) >= len(best.model.graph.node):
            break
        best = smaller
    return best
