#!/usr/bin/env python3
"""Records what ONNX Runtime computes for more than 400 small convolutions, for tests/recorded/conformance_test.cc.

Covers QLinearConv, ConvInteger and QLinearConvTranspose feature by feature. Every case has two sources: ONNX Runtime
on the model itself, and ONNX Runtime on an equivalent model of the plainest form it knows (explicit pads, uint8, one
weight zero point; a transposed convolution becomes a forward one over a stuffed input). They must agree, except for the
deviations listed in DEVIATIONS: there the first must refuse or differ in just that way, and the second is recorded.

Writes tests/data/conformance/cases.tsv and cases.bin (committed). Run this only to change the set, on a CPU with VNNI,
where ONNX Runtime's products do not saturate; with qemu-x86_64 the saturating kernels of AVX2 are asserted too.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/conformance.py
"""

import dataclasses
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

import conformance_cases

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "conformance"

# What ONNX Runtime says where it refuses, or nothing where it computes something else.
DEVIATIONS = {
    "types": ("Could not find an implementation for QLinearConv",),
    "same-with-dilation": ("Dilation not supported for AutoPadType",),
    "same-crops": (),  # SAME with stride >= kernel + 3 gives negative padding
    "per-channel-zero-point": ("Non per-tensor quantization is not supported",),
    # Of the NHWC domain; the operators' own type inference refuses much of what their text allows.
    "no-kernel": ("Could not find an implementation", "TypeInferenceError", "is not a registered function/op"),
    "avx2-saturates": (),  # only there: on this CPU the model itself must be right
}


def convolution_model(conv):
    """The model of a Conv (conformance_cases.py) as bytes, and the arrays of its inputs."""
    names, graph_inputs, constants, feeds = [], [], [], {}
    for name, value in conv.arguments():
        names.append("" if value is None else name)
        if value is None:
            continue
        if name == "x" or conv.known == "run-time" or (conv.known == "x-at-run-time" and name.startswith("x_")):
            kind = helper.np_dtype_to_tensor_dtype(value.dtype)
            graph_inputs.append(helper.make_tensor_value_info(name, kind, value.shape))
            feeds[name] = value
        else:
            constants.append(numpy_helper.from_array(value, name))
    while names[-1] == "":
        names.pop()
    kind = helper.np_dtype_to_tensor_dtype(conv.y_dtype())
    output = helper.make_tensor_value_info("y", kind, [None] * conv.x.ndim)
    node = helper.make_node(conv.op, names, ["y"], domain=conv.domain, **conv.attributes)
    graph = helper.make_graph([node], "conformance", graph_inputs, [output], constants)
    imports = [helper.make_opsetid("", conv.opset)]
    if conv.domain and conv.import_version:
        imports.append(helper.make_opsetid(conv.domain, conv.import_version))
    model = helper.make_model(graph, opset_imports=imports, ir_version=7)
    return model.SerializeToString(), feeds


def run(conv):
    model, feeds = convolution_model(conv)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


# ---- equivalent models ----


def spec_pads(conv):
    """Explicit pads of a forward convolution, by ONNX's rules (dilation counts, never below 0)."""
    auto = conv.attributes.get("auto_pad", "NOTSET")
    kernel, rank = conv.kernel(), len(conv.kernel())
    if auto == "NOTSET":
        return list(conv.attributes.get("pads", [0] * 2 * rank))
    begin, end = [0] * rank, [0] * rank
    if auto != "VALID":
        for a in range(rank):
            size, stride = conv.spatial()[a], conv.strides()[a]
            reach = (kernel[a] - 1) * conv.dilations()[a] + 1
            total = max(0, reach - (stride if size % stride == 0 else size % stride))
            begin[a] = total // 2 if auto == "SAME_UPPER" else total - total // 2
            end[a] = total - begin[a]
    return begin + end


def transposed_output(conv):
    """Output size and front padding per axis when transposed (docs/spec/shapes.md section 4.3)."""
    attributes, kernel, rank = conv.attributes, conv.kernel(), len(conv.kernel())
    auto = attributes.get("auto_pad", "NOTSET")
    extra = attributes.get("output_padding", [0] * rank)
    pads = attributes.get("pads", [0] * 2 * rank)
    wanted = attributes.get("output_shape")
    out = []
    for a in range(rank):
        size, stride = conv.spatial()[a], conv.strides()[a]
        full = stride * (size - 1) + extra[a] + (kernel[a] - 1) * conv.dilations()[a] + 1
        target = wanted[a] if wanted else size * stride if auto.startswith("SAME") else None
        if target is None:
            out.append((full - pads[a] - pads[a + rank], pads[a]))
            continue
        total = max(0, full - target)
        begin = total // 2 if auto == "SAME_UPPER" else total - total // 2
        out.append((target if wanted else full - total, begin))
    return out


def as_forward(conv):
    """A transposed convolution as a forward one over the input with x_zero_point stuffed between."""
    kernel, rank, group = conv.kernel(), len(conv.kernel()), conv.group()
    x = np.moveaxis(conv.x, -1, 1)
    w = conv.w.reshape(group, x.shape[1] // group, -1, *kernel).swapaxes(1, 2)
    w = w.reshape(-1, x.shape[1] // group, *kernel)[(..., *[slice(None, None, -1)] * rank)]
    begins, ends = [], []
    for a, (out, begin) in enumerate(transposed_output(conv)):
        stride, reach = conv.strides()[a], (kernel[a] - 1) * conv.dilations()[a]
        shape = list(x.shape)
        shape[a + 2] = (shape[a + 2] - 1) * stride + 1
        stuffed = np.full(shape, conv.x_zero_point, x.dtype)
        stuffed[(slice(None),) * (a + 2) + (slice(None, None, stride),)] = x
        first, last = reach - begin, out - shape[a + 2] + begin
        crop = slice(max(0, -first), shape[a + 2] - max(0, -last))
        x = stuffed[(slice(None),) * (a + 2) + (crop,)]
        begins.append(max(0, first))
        ends.append(max(0, last))
    attributes = {"pads": begins + ends, "dilations": conv.dilations(), "group": group}
    return dataclasses.replace(conv, op="QLinearConv", domain="", opset=13, known="constants", x=np.ascontiguousarray(x),
                               w=np.ascontiguousarray(w), attributes=attributes)


def as_uint8(array):
    return (array.astype(np.int16) + 128).astype(np.uint8) if array is not None and array.dtype == np.int8 else array


def plain_integer(conv):
    """ConvInteger channel by channel, so that the weights have one zero point."""
    if conv.w_zero_point is None or conv.w_zero_point.size == 1:
        return run(conv)
    per_group, channels = conv.w.shape[0] // conv.group(), conv.w.shape[1]
    planes = []
    for m in range(conv.w.shape[0]):
        first = m // per_group * channels
        attributes = {**conv.attributes, "group": 1}
        one = dataclasses.replace(conv, x=np.ascontiguousarray(conv.x[:, first:first + channels]), w=conv.w[m:m + 1],
                                  w_zero_point=conv.w_zero_point[m:m + 1], attributes=attributes)
        planes.append(run(one))
    return np.concatenate(planes, axis=1)


def run_plainly(conv):
    """The result of the equivalent model."""
    channels_last = conv.channels_last()
    if conv.op == "QLinearConvTranspose":
        conv = as_forward(conv)
    elif channels_last:
        attributes = {k: v for k, v in conv.attributes.items() if k != "channels_last"}
        conv = dataclasses.replace(conv, domain="", opset=13, attributes=attributes,
                                   x=np.ascontiguousarray(np.moveaxis(conv.x, -1, 1)))
    attributes = {k: v for k, v in conv.attributes.items() if k != "auto_pad"}
    attributes["pads"] = spec_pads(conv)
    conv = dataclasses.replace(conv, attributes=attributes, known="constants")
    if conv.op == "ConvInteger":
        return plain_integer(conv)
    signed = conv.y_zero_point.dtype == np.int8
    y = run(dataclasses.replace(conv, x=as_uint8(conv.x), x_zero_point=as_uint8(conv.x_zero_point), w=as_uint8(conv.w),
                                w_zero_point=as_uint8(conv.w_zero_point), y_zero_point=as_uint8(conv.y_zero_point)))
    y = (y.astype(np.int16) - 128).astype(np.int8) if signed else y
    return np.ascontiguousarray(np.moveaxis(y, 1, -1)) if channels_last else y


# ---- recording ----


def check(name, conv, deviation, expected):
    """Runs the model itself; True if that is a source of the expected values."""
    try:
        direct = run(conv)
    except Exception as error:  # ONNX Runtime raises several kinds
        wanted = DEVIATIONS.get(deviation, ())
        assert any(text in str(error) for text in wanted), f"{name}: {error}"
        return False
    same = np.array_equal(direct, expected)
    assert same == (deviation in (None, "avx2-saturates")), f"{name}: {'equal' if same else 'differs'}, {deviation}"
    return same


def assert_avx2_saturates(cases):
    """Under an emulated CPU with AVX2 and without VNNI every one of these cases comes out wrong."""
    if shutil.which("qemu-x86_64") is None:
        sys.exit("qemu-x86_64 (Debian: qemu-user) is needed for the saturating kernels of AVX2")
    script = ("import sys,numpy as np,onnxruntime as ort\n"
              "f=sys.argv[1]; d=np.load(f+'.npz')\n"
              "s=ort.InferenceSession(f,providers=['CPUExecutionProvider'])\n"
              "sys.exit(0 if np.array_equal(s.run(None,{'x':d['x']})[0],d['y']) else 9)\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, conv, expected in cases:
            path = f"{folder}/model.onnx"
            pathlib.Path(path).write_bytes(convolution_model(conv)[0])
            np.savez(path, x=conv.x, y=expected)
            code = subprocess.run(["qemu-x86_64", "-cpu", "Haswell", sys.executable, "-c", script, path],
                                  check=False, capture_output=True).returncode
            assert code == 9, f"{name}: exit code {code} under AVX2, 9 expected"


def assert_symmetric_kernels_saturate():
    """The kernels for symmetric weights saturate where int32 should wrap. Too large to be recorded."""
    depth = 70000
    x, w = np.full((1, depth, 1, 2), 255, np.uint8), np.full((16, depth, 1, 1), 127, np.int8)
    one, coarse = np.array(np.float32(1)), np.array(np.float32(2**24))
    conv = conformance_cases.Conv("QLinearConv", x, w, np.array(0, np.uint8), np.array(0, np.int8), one, one, coarse,
                                  np.array(200, np.uint8))
    wrapped = np.int64(depth * 255 * 127).astype(np.int32) / 2**24
    assert np.all(run_plainly(conv) == round(wrapped) + 200) and np.all(run(conv) == 255)


def cpu_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = next(line for line in lines if line.startswith("flags")).split()
    assert "avx512_vnni" in flags or "avx_vnni" in flags, "without VNNI some of these results are wrong"
    return next(line for line in lines if line.startswith("model name")).split(":")[1].strip()


def block(data):
    return struct.pack("<I", len(data)) + data


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines, blocks, saturating = [], [], []
    for name, conv, deviation in conformance_cases.all_cases():
        expected = run_plainly(conv)
        direct = check(name, conv, deviation, expected)
        if deviation == "avx2-saturates":
            saturating.append((name, conv, expected))
        model, feeds = convolution_model(conv)
        lines.append(f"{name}\t{len(feeds)}\t{'itself' if direct else 'equivalent'}\t{deviation or ''}")
        tensors = [numpy_helper.from_array(value).SerializeToString() for value in [*feeds.values(), expected]]
        blocks += [block(model), *map(block, tensors)]
    assert_avx2_saturates(saturating)
    assert_symmetric_kernels_saturate()
    header = (f"# Recorded by tools/conformance.py with ONNX Runtime {ort.__version__} on {cpu_name()}.\n"
              "# case\tinputs in cases.bin\tsource: the model itself or an equivalent\tONNX Runtime's deviation\n")
    (FOLDER / "cases.tsv").write_text(header + "\n".join(lines) + "\n")
    (FOLDER / "cases.bin").write_bytes(b"".join(blocks))
    deviations = [line.split("\t")[3] for line in lines]
    print(f"{len(lines)} cases, {(FOLDER / 'cases.bin').stat().st_size} bytes; deviations:",
          {name: deviations.count(name) for name in DEVIATIONS})


if __name__ == "__main__":
    main()
