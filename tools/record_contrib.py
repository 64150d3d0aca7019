#!/usr/bin/env python3
"""Records ONNX Runtime's results for small random cases of single operators.

Writes tests/data/contrib/NAME/{model.onnx,test_data_set_0/{input_I,output_I}.pb}, replayed by
tests/recorded/recorded_contrib_test.cc. Optimizations are off, so that each node runs as written. The version of
ONNX Runtime and the instruction sets of the recording CPU are kept in tests/data/contrib/recorded.txt:
QLinearAdd and Softmax depend on the CPU (AVX512F with FMA is expected).

usage: record_contrib.py [PREFIX]   (needs onnx, onnxruntime, numpy)

With PREFIX only the cases whose names start so are recorded again, with the same inputs.
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "contrib"
MICROSOFT = "com.microsoft"
PREFIX = sys.argv[1] if len(sys.argv) > 1 else ""
rng = np.random.default_rng(20240607)
count = {}


def record(op, inputs, attributes=None, opset=13, domain="", outputs=1, constants=(), label=""):
    """One node of type `op`; inputs[i] is bound at run time unless i is in `constants` or it is None."""
    name = f"{op.lower()}{'_' + label if label else ''}"
    count[name] = count.get(name, 0) + 1
    folder = OUT / f"{name}_{count[name]}"
    if not name.startswith(PREFIX):
        return
    names = ["" if x is None else f"in{i}" for i, x in enumerate(inputs)]
    out_names = [f"out{i}" for i in range(outputs)]
    node = helper.make_node(op, names, out_names, domain=domain, **(attributes or {}))
    present = [i for i, x in enumerate(inputs) if x is not None]
    run_time = [i for i in present if i not in constants]
    value_info = [helper.make_tensor_value_info(
        names[i], helper.np_dtype_to_tensor_dtype(inputs[i].dtype), inputs[i].shape) for i in run_time]
    results = [helper.make_empty_tensor_value_info(n) for n in out_names]
    graph = helper.make_graph([node], op, value_info, results,
                              [numpy_helper.from_array(inputs[i], names[i]) for i in present if i in constants])
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=imports, producer_name="record_contrib")
    model.ir_version = 8
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    del model.graph.output[:]
    model.graph.output.extend(typed_outputs(model, out_names, options, inputs, run_time, names))
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = session.run(None, {names[i]: inputs[i] for i in run_time})
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for k, i in enumerate(run_time):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(inputs[i], names[i]).SerializeToString())
    for k, value in enumerate(values):
        tensor = numpy_helper.from_array(np.asarray(value), out_names[k])
        (data / f"output_{k}.pb").write_bytes(tensor.SerializeToString())


def typed_outputs(model, out_names, options, inputs, run_time, names):
    """Output declarations with the types that ONNX Runtime infers."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.extend([onnx.ValueInfoProto(name=n) for n in out_names])
    session = ort.InferenceSession(probe.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = session.run(None, {names[i]: inputs[i] for i in run_time})
    return [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.asarray(v).dtype),
                                          np.asarray(v).shape) for n, v in zip(out_names, values)]


def floats(*shape, low=-4.0, high=4.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def bytes_of(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def scale(low=0.002, high=0.2):
    return np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))).reshape(())


def zero_point(dtype):
    return bytes_of(dtype).reshape(())


def i64(*values):
    return np.array(values, np.int64)


def data_movement():
    x = floats(2, 3, 4)
    record("Reshape", [x, i64(0, -1)], constants=[1])
    record("Reshape", [bytes_of(np.uint8, 2, 3, 4), i64(4, 0, 2)], constants=[1])
    for axis in (0, 1, 2, 3):
        record("Flatten", [x], {"axis": axis}, opset=9)
    record("Flatten", [x], {"axis": -1}, opset=13)
    record("Transpose", [x])
    record("Transpose", [bytes_of(np.int8, 2, 3, 4, 5)], {"perm": [0, 2, 3, 1]})
    record("Squeeze", [floats(1, 3, 1)], {"axes": [0]}, opset=11)
    record("Squeeze", [floats(1, 3, 1)], opset=11)
    record("Squeeze", [floats(1, 3, 1), i64(-1)], opset=13, constants=[1])
    record("Unsqueeze", [floats(3, 2)], {"axes": [0, 3]}, opset=11)
    record("Unsqueeze", [floats(3, 2), i64(-1, 1)], opset=13, constants=[1])
    record("Identity", [bytes_of(np.uint8, 5)])
    record("Expand", [floats(3, 1), i64(2, 1, 4)], constants=[1])
    record("Expand", [bytes_of(np.int8, 2, 3), i64(1, 1)], constants=[1])
    record("Slice", [floats(5, 6)], {"starts": [1, -3], "ends": [4, 1000], "axes": [0, 1]}, opset=9)
    record("Slice", [floats(5, 6), i64(4, 1), i64(-1000, 6), i64(0, -1), i64(-2, 2)], opset=13, constants=[1, 2, 3, 4])
    record("Slice", [floats(5, 6), i64(2), i64(2**63 - 1)], opset=13, constants=[1, 2])
    record("Slice", [floats(5, 6), i64(4), i64(1), i64(1)], opset=13, constants=[1, 2, 3])
    record("Slice", [floats(5), i64(-1), i64(-2**63), i64(0), i64(-1)], opset=13, constants=[1, 2, 3, 4])
    record("Concat", [floats(2, 1, 3), floats(2, 4, 3)], {"axis": 1})
    record("Concat", [bytes_of(np.uint8, 2, 2), bytes_of(np.uint8, 2, 1), bytes_of(np.uint8, 2, 3)], {"axis": -1})
    record("Gather", [x, np.array([[0, -1], [2, 1]], np.int64)], {"axis": 1}, constants=[1])
    record("Gather", [x, np.array(1, np.int32)], {"axis": 2})
    record("Split", [floats(6, 2)], {"axis": 0}, opset=11, outputs=3)
    record("Split", [floats(2, 5), i64(1, 0, 4)], {"axis": -1}, opset=13, outputs=3, constants=[1])
    record("Split", [floats(7, 2)], {"num_outputs": 3}, opset=18, outputs=3)
    record("Shape", [x], opset=13)
    record("Shape", [x], {"start": -2, "end": 5}, opset=15)
    record("ConstantOfShape", [i64(2, 3)], {"value": helper.make_tensor("v", TensorProto.INT8, [1], [-7])}, constants=[0])
    record("ConstantOfShape", [i64(2)], constants=[0])
    record("Constant", [], {"value_floats": [1.5, -2.0]}, opset=12)


def casts():
    fractions = np.array([0, -0.0, 0.3, 2.9, -2.9, 127.9, 128.5, 255.9, 256.7, -1, -300, 300, 65536, 40000], np.float32)
    huge = np.array([3e9, -3e9, 1e10, -1e10, 1e20, np.inf, -np.inf, np.nan], np.float32)
    number = {np.uint8: 2, np.int8: 3, np.uint16: 4, np.int16: 5, np.int32: 6, np.int64: 7, np.uint32: 12, np.uint64: 13, np.bool_: 9, np.float64: 11}
    for target, code in number.items():
        overflows = target in (np.uint32, np.uint64)  # there the results depend on the position
        record("Cast", [fractions if overflows else np.concatenate([fractions, huge])], {"to": code})
        record("Cast", [rng.integers(-70000, 70000, 12).astype(np.int32)], {"to": code})
    record("Cast", [rng.integers(-2**62, 2**62, 8)], {"to": 1})
    record("Cast", [rng.uniform(-9, 9, 8)], {"to": 1})
    record("Cast", [np.array([True, False])], {"to": 1})
    record("Cast", [np.array([1.5, -2.25, 65504, 6e-8], np.float16)], {"to": 1})
    record("Cast", [bytes_of(np.int8, 9)], {"to": 2})


def elementwise():
    for op in ("Add", "Sub", "Mul", "Div"):
        record(op, [floats(2, 3, 4), floats(3, 1)], opset=7)
        record(op, [floats(1), floats(5, 2)], opset=14)
        record(op, [rng.integers(-2**31, 2**31, 9).astype(np.int32), rng.integers(1, 99, 9).astype(np.int32)])
        record(op, [rng.integers(-99, 99, (3, 1)), rng.integers(1, 99, 4)])
    special = np.array([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3.5, -3.5, 1e38], np.float32)
    record("Div", [special, np.float32(3).reshape(1)])
    record("Relu", [np.concatenate([special, np.float32([np.nan]), floats(20)])])
    record("Clip", [floats(3, 5)], {"min": -1.5, "max": 2.0}, opset=6 + 1)
    record("Clip", [floats(3, 5)], {"max": 0.0}, opset=10)
    record("Clip", [np.concatenate([special, np.float32([np.nan])]), np.float32(0).reshape(()), np.float32(3).reshape(())], opset=13, constants=[1, 2])
    record("Clip", [floats(3, 5), np.float32(-1).reshape(()), None], opset=11, constants=[1])
    record("Clip", [floats(3, 5), np.float32(2).reshape(()), np.float32(-2).reshape(())], opset=13, constants=[1, 2])
    for dtype in (np.uint8, np.int8, np.int32):
        x = bytes_of(dtype, 20) if dtype != np.int32 else rng.integers(-99, 99, 20).astype(dtype)
        record("Clip", [x, dtype(3).reshape(()), dtype(90).reshape(())], opset=13, constants=[1, 2])
    record("Clip", [bytes_of(np.int8, 20), None, np.int8(7).reshape(())], opset=12, constants=[2])
    record("LeakyRelu", [np.concatenate([special, floats(20)])], {"alpha": 0.1})
    record("LeakyRelu", [floats(20)])
    record("Sigmoid", [np.concatenate([np.linspace(-20, 20, 301), np.linspace(-1, 1, 100)]).astype(np.float32)])
    for shape, axis in (((3, 7), 1), ((2, 3, 5), 1), ((2, 33), -1), ((4, 3), 0)):
        record("Softmax", [floats(*shape)], {"axis": axis}, opset=11)
        record("Softmax", [floats(*shape)], {"axis": axis}, opset=13)
    record("Softmax", [floats(2, 40, low=-90, high=90)], opset=13)
    record("Softmax", [floats(2, 3, 2)], opset=8)


def pools():
    image = lambda *shape: floats(*shape)
    cases = [
        (dict(kernel_shape=[3, 2], strides=[2, 1]), (1, 2, 7, 6)),
        (dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), (2, 3, 8, 7)),
        (dict(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 1, 2, 0]), (1, 3, 6, 5)),
        (dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), (1, 2, 5, 7)),
        (dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1), (1, 2, 6, 6)),
        (dict(kernel_shape=[2, 2], strides=[3, 3], pads=[1, 0, 1, 0], ceil_mode=1), (1, 2, 6, 6)),
        (dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), (1, 2, 6, 7)),
        (dict(kernel_shape=[2, 3], strides=[1, 2], auto_pad="SAME_LOWER"), (1, 2, 6, 7)),
        (dict(kernel_shape=[2, 3], strides=[2, 2], auto_pad="VALID"), (1, 2, 6, 7)),
        (dict(kernel_shape=[3], strides=[2], pads=[1, 1]), (2, 2, 9)),
        (dict(kernel_shape=[2, 2, 2], strides=[1, 2, 2]), (1, 2, 3, 4, 5)),
    ]
    for attributes, shape in cases:
        record("MaxPool", [image(*shape)], attributes, opset=11)
        for dtype in (np.uint8, np.int8):
            record("MaxPool", [bytes_of(dtype, *shape)], attributes, opset=12)
        for counted in (0, 1):
            with_count = dict(attributes, count_include_pad=counted)
            record("AveragePool", [image(*shape)], with_count, opset=11)
            if attributes.get("ceil_mode"):
                record("AveragePool", [image(*shape)], with_count, opset=19)
            for dtype in (np.uint8, np.int8):
                if len(shape) == 4 or dtype == np.uint8:
                    quantized_pool("QLinearAveragePool", dtype, shape, with_count)
    record("MaxPool", [image(1, 2, 9, 8)], dict(kernel_shape=[3, 2], dilations=[2, 3], pads=[2, 1, 1, 0]), opset=11)
    record("MaxPool", [bytes_of(np.uint8, 1, 2, 9, 8)], dict(kernel_shape=[3, 2], dilations=[2, 3], ceil_mode=1, strides=[2, 2]), opset=12)
    record("AveragePool", [image(1, 2, 9, 8)], dict(kernel_shape=[3, 2], dilations=[2, 3], pads=[2, 1, 1, 0]), opset=19)
    record("AveragePool", [image(1, 2, 9, 8)], dict(kernel_shape=[3, 2], dilations=[2, 3], pads=[2, 1, 1, 0], count_include_pad=1), opset=19)
    record("AveragePool", [image(1, 2, 4, 4)], dict(kernel_shape=[2, 2]), opset=7)
    quantized_pool("QLinearAveragePool", np.uint8, (1, 3, 8, 8), dict(kernel_shape=[8, 8], strides=[8, 8]))
    quantized_pool("QLinearAveragePool", np.int8, (1, 3, 4, 5), dict(kernel_shape=[4, 5]))
    quantized_pool("QLinearAveragePool", np.uint8, (1, 6, 5, 4), dict(kernel_shape=[3, 2], pads=[1, 1, 1, 0], channels_last=1))
    quantized_pool("QLinearAveragePool", np.uint8, (1, 4, 5, 3), dict(kernel_shape=[4, 5], channels_last=1))
    for dtype in (np.uint8, np.int8):
        for shape in ((1, 3, 7, 7), (2, 5, 3, 4), (1, 4, 9)):
            quantized_pool("QLinearGlobalAveragePool", dtype, shape, dict(channels_last=0))
        quantized_pool("QLinearGlobalAveragePool", dtype, (2, 5, 6, 7), dict(channels_last=1))
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        record(op, [image(2, 3, 5, 7)])
        record(op, [image(1, 2, 6)])
    record("ReduceMean", [floats(2, 3, 4)], {"axes": [1, -1]}, opset=13)
    record("ReduceMean", [floats(2, 3, 4)], {"axes": [1], "keepdims": 0}, opset=11)
    record("ReduceMean", [floats(2, 3, 4)], opset=13)
    record("ReduceMean", [floats(2, 3, 4), i64(2)], {"keepdims": 0}, opset=18, constants=[1])
    record("ReduceMean", [floats(2, 3, 4)], {"noop_with_empty_axes": 1}, opset=18)


def quantized_pool(op, dtype, shape, attributes):
    x_scale = scale()
    y_scale = np.float32(x_scale * rng.uniform(0.5, 1.5)).reshape(())
    record(op, [bytes_of(dtype, *shape), x_scale, zero_point(dtype), y_scale, zero_point(dtype)],
           attributes, domain=MICROSOFT, constants=[1, 2, 3, 4], label=np.dtype(dtype).name)


def quantized_elementwise():
    shapes = [((4, 70), (4, 70)), ((2, 3, 5), (5,)), ((5,), (2, 3, 5)), ((2, 3, 1), (2, 3, 40)), ((3, 1), (1, 4)),
              ((), (9,)), ((9,), ()), ((1,), (2, 6)), ((2, 1, 1), (3, 1)), ((1, 1), (1, 1)), ((2, 4, 1, 1), (2, 4, 6, 6)), ((3, 1, 1), (4, 1))]
    for op in ("QLinearAdd", "QLinearMul"):
        for dtype in (np.uint8, np.int8):
            for a_shape, b_shape in shapes:
                for power in (False, True):
                    if power and len(a_shape) != 2:
                        continue
                    pick = (lambda: np.float32(2.0 ** rng.integers(-7, -2)).reshape(())) if power else scale
                    a_scale, b_scale = pick(), pick()
                    c_scale = pick() if power or op == "QLinearAdd" else np.float32(a_scale * b_scale * 50).reshape(())
                    record(op, [bytes_of(dtype, *a_shape), a_scale, zero_point(dtype), bytes_of(dtype, *b_shape), b_scale,
                                zero_point(dtype), c_scale, zero_point(dtype)], domain=MICROSOFT,
                           constants=[1, 2, 4, 5, 6, 7], label=np.dtype(dtype).name)
    a = np.repeat(np.arange(256), 16).astype(np.uint8)
    b = np.tile(np.arange(0, 256, 16), 256).astype(np.uint8)
    none = np.uint8(0).reshape(())
    for zero in (np.uint8(0).reshape(()), np.uint8(128).reshape(())):
        record("QLinearAdd", [a, np.float32(0.5).reshape(()), zero, b, np.float32(0.25).reshape(()), zero, np.float32(0.5).reshape(()), zero],
               domain=MICROSOFT, constants=[1, 2, 4, 5, 6, 7], label="grid")
    record("QLinearAdd", [a, np.float32(1e9).reshape(()), none, b, np.float32(1e9).reshape(()), none, np.float32(1e-3).reshape(()), none],
           domain=MICROSOFT, constants=[1, 2, 4, 5, 6, 7], label="overflow")
    record("QLinearMul", [a, np.float32(1e3).reshape(()), none, b, np.float32(1e3).reshape(()), none, np.float32(1e-3).reshape(()), none],
           domain=MICROSOFT, constants=[1, 2, 4, 5, 6, 7], label="overflow")
    for dtype in (np.uint8, np.int8):
        every = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype)
        for _ in range(3):
            params = [scale(), zero_point(dtype), np.float32(rng.uniform(0.002, 0.008)).reshape(()), zero_point(dtype)]
            record("QLinearSigmoid", [every] + params, domain=MICROSOFT, constants=[1, 2, 3, 4], label=np.dtype(dtype).name)
            record("QLinearLeakyRelu", [every, scale(), zero_point(dtype), scale(), zero_point(dtype)], {"alpha": float(rng.uniform(0, 0.5))},
                   domain=MICROSOFT, constants=[1, 2, 3, 4], label=np.dtype(dtype).name)


def quantized_rows():
    for dtype in (np.uint8, np.int8):
        label = np.dtype(dtype).name
        for shape, axis, opset in (((3, 10), 1, 12), ((2, 3, 5), 1, 12), ((2, 3, 5), 1, 13), ((2, 100), -1, 13), ((4, 3, 2), 0, 13), ((5, 1), 1, 13), ((2, 1000), -1, 13)):
            for y_scale in (1 / 256, 0.047, 1 / 255.5, 0.0021):
                if y_scale != 1 / 256 and shape[-1] == 1000:
                    continue
                record("QLinearSoftmax", [bytes_of(dtype, *shape), scale(), zero_point(dtype), np.float32(y_scale).reshape(()),
                                          zero_point(dtype)], {"axis": axis, "opset": opset}, domain=MICROSOFT,
                       constants=[1, 2, 3, 4], label=label)
        for columns in range(2, 8):  # equal elements give ties
            rows = np.repeat(bytes_of(dtype, 12, 1), columns, axis=1)
            for inverse in (3, 10, 21):
                record("QLinearSoftmax", [rows, scale(), zero_point(dtype), np.float32(1 / (inverse + 0.25)).reshape(()),
                                          np.zeros((), dtype)], {"axis": 1, "opset": 13}, domain=MICROSOFT,
                       constants=[1, 2, 3, 4], label=f"ties_{label}")
        for shapes, axis in ((((2, 3, 4), (2, 1, 4)), 1), (((2, 9), (2, 4), (2, 5)), -1), (((300,), (20,)), 0)):
            y = [scale(), zero_point(dtype)]
            inputs = list(y)
            for k, shape in enumerate(shapes):
                same = k == 1
                inputs += [bytes_of(dtype, *shape)] + (list(y) if same else [scale(), zero_point(dtype)])
            fixed = [i for i in range(len(inputs)) if i < 2 or (i - 2) % 3 != 0]
            record("QLinearConcat", inputs, {"axis": axis}, domain=MICROSOFT, constants=fixed, label=label)


def softmax_of_any_scale():
    """QLinearSoftmax where exponential / y_scale leaves the range of float, and ties of the exact quotient."""

    def softmax(label, x, x_scale, y_scale, y_zero):
        constants = [np.float32(x_scale).reshape(()), np.zeros((), x.dtype), np.float32(y_scale).reshape(()),
                     np.array(y_zero, x.dtype)]
        record("QLinearSoftmax", [x] + constants, {"axis": 1, "opset": 13}, domain=MICROSOFT, constants=[1, 2, 3, 4],
               label=f"{label}_{x.dtype.name}")

    for dtype in (np.uint8, np.int8):
        least = np.iinfo(dtype).min
        for columns in (1, 2, 8, 50):
            for y_scale in (1 / 256, 1 / (149 * columns), 1 / (200 * columns), 1e-30, 1e-38, 1e30, 1e38):
                near = bytes_of(dtype, 6, columns) // 100
                softmax("any_scale", np.concatenate([near, bytes_of(dtype, 2, columns)]), 0.01, y_scale, least)
            softmax("any_scale", bytes_of(dtype, 4, columns), 1e-30, 1 / (180 * columns), least + 7)
            softmax("any_scale", bytes_of(dtype, 4, columns), 1e30, 1e-37, least + 7)
        # 98 equal elements of 202: in double, 1 / 98 * 147 is below the tie 1.5, 147 / 98 on it.
        for inverse in (147, 343, 735, 1127):
            rows = np.full((1, 202), least, dtype)
            rows[0, :98] = 120
            softmax("exact_ties", rows, 3.0, 1 / (inverse + 0.25), least)


def cpu_flags():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    flags = next(line for line in text.splitlines() if line.startswith("flags")).split()
    return sorted(set(flags) & {"fma", "avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8"})


def main():
    for folder in OUT.glob(f"{PREFIX}*") if PREFIX else [OUT]:
        shutil.rmtree(folder, ignore_errors=True)
    for make in (data_movement, casts, elementwise, pools, quantized_elementwise, quantized_rows, softmax_of_any_scale):
        make()
    said = f"onnxruntime {ort.__version__}, {' '.join(cpu_flags())}, optimizations off\n"
    if PREFIX:
        said = (OUT / "recorded.txt").read_text() + f"{PREFIX}*: {said}"
    (OUT / "recorded.txt").write_text(said)
    files = [path for path in OUT.rglob("*") if path.is_file()]
    print(f"{sum(count.values())} cases, {sum(path.stat().st_size for path in files)} bytes")


if __name__ == "__main__":
    main()
