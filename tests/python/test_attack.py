"""The judge of tools/attack: the smallest wrong result of each type is found, and nothing judged is a failure."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from onnx import TensorProto

sys.path[:0] = [str(ROOT / "tools" / "attacker"), str(ROOT / "tools")]

import families  # noqa: E402
import given  # noqa: E402
import relations  # noqa: E402
import streams  # noqa: E402
import zoo  # noqa: E402
from builder import MS, Builder, session  # noqa: E402
from hostile import Hostile  # noqa: E402
from judging import Case, Judged  # noqa: E402
from verdict import examine  # noqa: E402


def f(value: float) -> np.float32:
    return np.float32(value)


def sums(b: Builder) -> str:
    """Floats whose last bits depend on the order of sums."""
    return b.node("MatMul", [b.input(b.floats([3, 40])), b.constant(b.floats([40, 30]))], exact=False)


def floats(b: Builder) -> None:
    b.node("Add", [b.input(b.floats([30])), b.constant(b.floats([30]))])


def float_sums(b: Builder) -> None:
    sums(b)


def sums_of_halves(b: Builder) -> None:
    """Rounded to float16 from floats whose last bits depend on the order of sums."""
    w, scales = b.constant(b.bytes(np.uint8, [9, 2, 16])), b.constant(np.full([9, 2], 0.01, np.float16))
    x = b.input(b.floats([3, 64]).astype(np.float16))
    b.node("MatMulNBits", [x, w, scales], domain=MS, exact=False, K=64, N=9, bits=4, block_size=32)


def rounded_to(dtype: type) -> object:
    def build(b: Builder) -> None:
        b.node("QuantizeLinear", [sums(b), b.constant(f(0.1)), b.constant(dtype(3))])

    return build


def cast_to(kind: int) -> object:
    def build(b: Builder) -> None:
        b.node("Cast", [sums(b)], to=kind)

    return build


def compared(b: Builder) -> None:
    b.node("Greater", [sums(b), b.constant(f(0.3))])


def product_of_bytes(b: Builder) -> None:
    x, w = b.input(b.bytes(np.uint8, [3, 9])), b.constant(b.bytes(np.int8, [9, 30]))
    b.node("Cast", [sums(b)], to=TensorProto.INT64)
    b.node("MatMulInteger", [x, w])


def qdq(dtype: type) -> object:
    """Scales are powers of two and sums are short, so that floats are exact."""

    def build(b: Builder) -> None:
        b.qdq, b.opset = True, 21
        ends = [b.constant(f(2.0**-7)), b.constant(dtype(0))]
        x = b.node("DequantizeLinear", [b.input(b.bytes(dtype, [1, 2, 6, 7], "narrow")), *ends])
        w = b.bytes(np.int8, [3, 2, 1, 1])
        weights = b.node("DequantizeLinear", [b.constant(w), b.constant(f(2.0**-6)), b.constant(np.int8(0))])
        y = b.node("Conv", [x, weights], exact=False)
        y = b.node("QuantizeLinear", [y, b.constant(f(2.0**-5)), b.constant(dtype(0))])
        y = b.node("DequantizeLinear", [y, b.constant(f(2.0**-5)), b.constant(dtype(0))])
        y = b.node("Add", [y, x]) if b.shape(x) == b.shape(y) else b.node("Relu", [y])
        b.node("QuantizeLinear", [y, b.constant(f(2.0**-6)), b.constant(dtype(0))])  # finer: no ties

    return build


def qdq_ties(b: Builder) -> None:
    """Half of the results are ties, which go to the even neighbour."""
    b.qdq, b.opset = True, 21
    ends = [b.constant(f(2.0**-7)), b.constant(np.int16(0))]
    parts = [b.node("DequantizeLinear", [b.input(b.bytes(np.int16, [9, 8], "narrow")), *ends]) for _ in range(2)]
    b.node("QuantizeLinear", [b.node("Add", parts), b.constant(f(2.0**-6)), b.constant(np.int16(0))])


def qdq_means(b: Builder) -> None:
    """Of one, two and four elements, so that floats are exact; ties among them."""
    b.qdq, b.opset = True, 21
    ends = [b.constant(f(2.0**-7)), b.constant(np.int16(0))]
    x = b.node("DequantizeLinear", [b.input(b.bytes(np.int16, [1, 2, 5, 4], "narrow")), *ends])
    y = b.node("AveragePool", [x], exact=False, kernel_shape=[2, 2], pads=[1, 0, 0, 1])
    y = b.node("QuantizeLinear", [y, *ends])
    y = b.node("GlobalAveragePool", [b.node("DequantizeLinear", [y, *ends])], exact=False)
    b.node("QuantizeLinear", [y, b.constant(f(2.0**-9)), b.constant(np.int16(0))])


def qdq_compared(b: Builder) -> None:
    b.qdq = True
    ends = [b.constant(f(2.0**-7)), b.constant(np.int8(0))]
    x = b.node("DequantizeLinear", [b.input(b.bytes(np.int8, [5, 9])), *ends])
    b.node("Greater", [x, b.constant(f(0.3))])
    b.node("Cast", [b.node("Mul", [x, b.constant(f(50))])], to=TensorProto.INT64)


def qdq_detours(b: Builder) -> None:
    """Scales that the graph computes from constants, and floats that move between the quantizations."""
    b.qdq, b.opset, b.exact = True, 21, False
    scale = b.node("Reshape", [b.constant(np.array([2.0**-7], np.float32)), b.constant(np.array([], np.int64))])
    zero = b.node("Cast", [b.constant(f(3))], to=TensorProto.INT16)
    x = b.node("DequantizeLinear", [b.input(b.bytes(np.int16, [3, 1, 2], "narrow")), scale, zero])
    y = b.node("Pad", [x, b.ints(0, 0, 1, 0, 0, 0), b.constant(f(0.5))])
    y = b.node("Cast", [b.node("Expand", [b.node("Dropout", [y]), b.ints(1, 4, 1)])], to=TensorProto.FLOAT)
    b.node("QuantizeLinear", [b.node("Add", [y, y]), b.constant(f(2.0**-8)), zero])


def qdq_transposed(auto: str) -> object:
    """ConvTranspose that chooses its padding, one of an odd number."""

    def build(b: Builder) -> None:
        b.qdq = True
        ends = [b.constant(f(2.0**-7)), b.constant(np.int8(0))]
        x = b.node("DequantizeLinear", [b.input(b.bytes(np.int8, [1, 2, 4, 3], "narrow")), *ends])
        w = b.node("DequantizeLinear", [b.constant(b.bytes(np.int8, [2, 3, 3, 2])), *ends])
        size = {"output_shape": [8, 5]} if auto == "NOTSET" else {"auto_pad": auto}
        y = b.node("ConvTranspose", [x, w], exact=False, strides=[2, 2], **size)
        b.node("QuantizeLinear", [y, b.constant(f(2.0**-6)), b.constant(np.int8(0))])

    return build


GRAPHS = {
    "float32": floats,
    "float32 in another order": float_sums,
    "float16 in another order": sums_of_halves,
    "uint8": rounded_to(np.uint8),
    "int8": rounded_to(np.int8),
    "int16": rounded_to(np.int16),
    "uint16": rounded_to(np.uint16),
    "int32 by Cast": cast_to(TensorProto.INT32),
    "int64": cast_to(TensorProto.INT64),
    "bool": compared,
    "int32": product_of_bytes,
    "QDQ uint8": qdq(np.uint8),
    "QDQ int8": qdq(np.int8),
    "QDQ int16": qdq(np.int16),
    "QDQ uint16": qdq(np.uint16),
    "QDQ ties": qdq_ties,
    "QDQ means": qdq_means,
    "QDQ bool and int64": qdq_compared,
    "QDQ detours": qdq_detours,
    "QDQ ConvTranspose SAME_UPPER": qdq_transposed("SAME_UPPER"),
    "QDQ ConvTranspose SAME_LOWER": qdq_transposed("SAME_LOWER"),
    "QDQ ConvTranspose by its output": qdq_transposed("NOTSET"),
}


def case_of(build: object, seed: int) -> Case:
    b = Builder(np.random.default_rng(seed), 21)
    build(b)
    model = b.finish()
    inputs, outputs = [b.values[n] for n in b.inputs], [b.values[n] for n in b.outputs]
    return Case(f"case{seed}", model, inputs, outputs, ["n --target scalar"], b.exact, b.qdq, [], b)


def wrong(value: np.ndarray, at: int, exact: bool) -> np.ndarray:
    """The least that has to be found."""
    out = value.copy().reshape(-1)
    if out.dtype == np.float16:
        out[at] += 2 * np.spacing(np.abs(out).max())
    elif out.dtype.kind == "f":
        out[at] = np.nextafter(out[at], f(np.inf)) if exact else out[at] + f(3e-4) * np.abs(out).max()
    elif out.dtype.kind == "b":
        out[at] = not out[at]
    else:
        out[at] = int(out[at]) + (1 if out[at] < np.iinfo(out.dtype).max else -1)
    return out.reshape(value.shape)


def findings(case: Case, outputs: list) -> list:
    """As if the program gave these outputs, and within the graph what is right."""

    def compute(of: Case, names: list) -> dict:
        return {**of.builder.values, **dict(zip(of.builder.outputs, outputs, strict=True))}

    return examine(case, outputs, outputs, compute)[0]


@pytest.mark.parametrize("name", GRAPHS)
def test_smallest_wrong_result_is_found(name: str) -> None:
    for seed in range(3):
        case = case_of(GRAPHS[name], seed)
        assert not findings(case, case.outputs)
        for i, value in enumerate(case.outputs):
            at = int(np.random.default_rng(seed).integers(value.size))
            changed = [wrong(v, at, case.exact) if k == i else v for k, v in enumerate(case.outputs)]
            assert findings(case, changed), f"output {i} of {value.dtype}, seed {seed}"


def test_detours_change_how_tensors_are_read() -> None:
    """The same choices with and without: more nodes, pairs of Q and DQ, and other outputs."""
    kinds: set[str] = set()
    more = 0
    for number in range(12):
        _, plain, _ = families.make(3, number, ["expression"])
        _, hostile, model = families.make(3, number, ["expression"], Hostile)
        assert not hostile.equal
        assert all(np.size(hostile.values[o.name]) for o in model.graph.output)
        kinds |= {node.op_type for node in hostile.nodes} - {node.op_type for node in plain.nodes}
        more += len(hostile.nodes) - len(plain.nodes)
    assert more > 12
    assert {"Identity", "QuantizeLinear", "DequantizeLinear", "Transpose"} & kinds


def test_float64_has_the_digits_of_float32() -> None:
    """The first two sums are half way between neighbours of float32, and go to the even one."""
    a, c = np.array([1, 1 + 2.0**-23, 3]), np.array([2.0**-24, 2.0**-24, 4])
    case = case_of(lambda b: b.node("Add", [b.input(a), b.constant(c)]), 5)
    in_float32 = (a.astype(np.float32) + c.astype(np.float32)).astype(np.float64)
    assert in_float32.tolist() == [1, 1 + 2.0**-22, 7]
    assert not findings(case, [in_float32])
    assert findings(case, [a + c])


@pytest.mark.parametrize(
    ("auto", "size", "kernel", "stride", "expected"),
    [
        ("SAME_UPPER", 6, 1, 3, [1, 4]),  # ONNX Runtime: 2, 5
        ("SAME_UPPER", 8, 1, 4, [1, 5]),  # 2, 6
        ("SAME_LOWER", 8, 1, 4, [1, 5]),  # 2, 6
        ("SAME_LOWER", 9, 1, 4, [1, 5, 9]),
        ("SAME_LOWER", 10, 3, 3, [2, 5, 8, 10]),
    ],
)
def test_same_pads_by_no_negative_number(auto: str, size: int, kernel: int, stride: int, expected: list) -> None:
    b = Builder(np.random.default_rng(6), 19)
    x = b.input(np.arange(1, size + 1, dtype=np.uint8).reshape(1, 1, size))
    attributes = {"kernel_shape": [kernel], "strides": [stride], "auto_pad": auto}
    oracle = zoo.pool_oracle(b, "MaxPool", [size], attributes)
    assert (oracle is None) == (size % stride > 0)
    y = b.node("MaxPool", [x], oracle=oracle, **attributes)
    assert b.values[y].reshape(-1).tolist() == expected


@pytest.mark.parametrize("suffix", ["_twice", "_reordered", "_cut", "_after", "_part1"])
def test_results_of_changed_models_have_to_be_equal(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def layers(b: Builder) -> None:
        y = b.node("Relu", [b.input(b.floats([2, 5]))])
        b.node("Add", [b.node("Neg", [y]), y])

    case, wrong_one = case_of(layers, 4), [""]

    def judge(_program: str, _folder: pathlib.Path, cases: list) -> Judged:
        values = {}
        for each in cases:
            feeds = dict(zip([i.name for i in each.model.graph.input], each.inputs, strict=True))
            native = session(each.model).run(None, feeds)
            if each.name.endswith(wrong_one[0] or "nothing"):
                native[0] = wrong(native[0], 1, exact=True)
            values[each.name] = native, native
        return Judged([], [], values, 0)

    monkeypatch.setattr(relations, "judge", judge)
    values = {case.name: (case.outputs, case.outputs)}
    found, count = relations.unequal("", pathlib.Path(), [case], values)
    assert not found
    assert count == 6  # of each kind one, and two parts of the batch
    wrong_one[0] = suffix
    assert relations.unequal("", pathlib.Path(), [case], values)[0]


@pytest.mark.parametrize("shared", [False, True])
def test_a_float_that_is_quantized_and_used_elsewhere_is_not_cut_off(shared: bool) -> None:
    def layers(b: Builder) -> None:
        b.qdq = True
        ends = [b.constant(f(0.1)), b.constant(np.int8(0))]
        y = b.node("Mul", [b.input(b.floats([2, 5]))] * 2)
        b.node("DequantizeLinear", [b.node("QuantizeLinear", [y, *ends]), *ends])
        if shared:
            b.node("Neg", [y])

    case = case_of(layers, 4)
    cuts = [each for each in relations.relatives(case, case.outputs) if each.kind == "cut"]
    assert len(cuts) == (0 if shared else 1)


@pytest.mark.parametrize(("line", "code"), [("refused\\tNAME\\t-\\twhy", 1), ("nothing", 4)])
def test_run_that_judges_nothing_fails(line: str, code: int, tmp_path: pathlib.Path) -> None:
    for name, text in (
        ("etch", "printf 'scalar  portable, runs on this CPU\\ns390x  big, runs in qemu\\n'\n"),
        ("judge", 'touch "$1/native.bin" "$1/reference.bin"\nname=$(cut -f1 "$1/cases.tsv")\n'
         f"printf \"{line.replace('NAME', '$name')}\\nend\\t-\\t-\\t-\\n\"\n"),
    ):
        (tmp_path / name).write_text("#!/bin/sh\n" + text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    words = ["--models", "1", "--families", "gemm", "--judge", str(tmp_path / "judge"), "--output", str(tmp_path)]
    done = subprocess.run([sys.executable, ROOT / "tools" / "attacker", "--no-shrink", *words],
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr


def test_wrong_frame_of_a_stream_is_found(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program gives what is expected; a wrong expectation of the last frame is as good as a wrong frame."""
    b = Builder(np.random.default_rng(7), 17)
    x, kept = b.input(b.bytes(np.uint8, [1, 3])), b.input(b.bytes(np.uint8, [1, 3]))
    state = b.node("Concat", [x, kept], axis=0)
    b.outputs.append(b.node("Slice", [state, b.ints(0), b.ints(1), b.ints(0)]))
    b.states.append((b.outputs[0], kept))
    b.node("Transpose", [state], perm=[1, 0])
    case = Case("stream", b.finish(), [], [], [])
    case.builder = b
    etch, dice = os.environ["ETCH_PROGRAM"], np.random.default_rng(8)
    assert streams.broken(etch, tmp_path / "right", [case], ["--target scalar"], dice) == ([], streams.FRAMES)
    right = streams.frames_of(case, dice)
    right[-1][1][-1] = wrong(right[-1][1][-1], 2, exact=True)
    monkeypatch.setattr(streams, "frames_of", lambda *_: right)
    found, count = streams.broken(etch, tmp_path / "wrong", [case], ["--target scalar"], dice)
    assert [each.kind for each in found] == ["stream"]
    assert count == 0


def joined_rows(b: Builder) -> None:
    x = b.input(b.bytes(np.uint8, [3, 5]))
    b.node("Concat", [x, x], axis=1)


def reshaped(b: Builder) -> None:
    x, shape = b.input(b.bytes(np.uint8, [2, 6])), b.input(np.array([3, 4], np.int64))
    b.node("Reshape", [x, shape])


def kept_rows(b: Builder) -> None:
    x, kept = b.input(b.bytes(np.uint8, [1, 3])), b.input(b.bytes(np.uint8, [1, 3]))
    state = b.node("Concat", [x, kept], axis=0)
    b.outputs.append(b.node("Slice", [state, b.ints(0), b.ints(1), b.ints(0)]))
    b.states.append((b.outputs[0], kept))
    b.node("Transpose", [state], perm=[1, 0])


GIVEN = {"bounded": (joined_rows, 3), "constant": (reshaped, 1), "initial": (kept_rows, streams.FRAMES)}


@pytest.mark.parametrize(("kind", "seed"), [("bounded", 8), ("constant", 8), ("constant", 9), ("initial", 8), ("initial", 9)])
def test_wrong_results_of_what_is_given_are_found(kind: str, seed: int, tmp_path: pathlib.Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """As numbers and as files, as both seeds choose: each data set of this kind is compared, and a wrong one is found."""
    build, sets = GIVEN[kind]
    b = Builder(np.random.default_rng(7), 17)
    build(b)
    model = b.finish()
    values = [[b.values[n] for n in names] for names in (b.inputs, b.outputs)]
    case = Case("case", model, *values, ["n --target scalar"], builder=b)
    etch = os.environ["ETCH_PROGRAM"]
    assert given.broken(etch, tmp_path / "right", [case], np.random.default_rng(seed)) == ([], sets)
    assert [f.name for f in (tmp_path / "right").iterdir()] == [f"case_{kind}"]
    write = given.write

    def write_wrong(folder: pathlib.Path, model: object, all_sets: list, files: dict) -> None:
        last = list(all_sets[-1][1])
        last[-1] = wrong(last[-1], 2, exact=True)
        write(folder, model, [*all_sets[:-1], (all_sets[-1][0], last)], files)

    monkeypatch.setattr(given, "write", write_wrong)
    found, count = given.broken(etch, tmp_path / "wrong", [case], np.random.default_rng(seed))
    assert [each.kind for each in found] == ["given"]
    assert count == 0
