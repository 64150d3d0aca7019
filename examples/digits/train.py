#!/usr/bin/env python3
"""Makes everything in this folder that is not source: model.onnx, test_data_set_*/ and heldout.bin.

Trains the network of network.py on scikit-learn's handwritten digits, exports it as float ONNX, quantizes it with
ONNX Runtime's static quantizer (QDQ, int8, one scale per output channel), records what ONNX Runtime answers, and prints
the accuracy on the held-out digits as float, as int8 in ONNX Runtime and, when Etch is built, as int8 C++ from Etch.

    python3 -m venv build/venv && build/venv/bin/pip install -r examples/digits/requirements.txt
    build/venv/bin/python examples/digits/train.py
"""

import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_static)
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import network

SEED = 1
HELD_OUT = 360
DATA_SETS = 5
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODEL = HERE / "model.onnx"


def float_model(parameters):
    """The network as an ONNX graph, batch size symbolic (N)."""
    def conv(name, x, y, **attributes):
        return helper.make_node("Conv", [x, name + ".w", name + ".b"], [y], name, **attributes)

    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        conv("stem", "image", "stem_sum", **same),
        helper.make_node("Relu", ["stem_sum"], ["stem_out"], "stem_relu"),
        conv("down", "stem_out", "down_sum", strides=[2, 2], **same),
        helper.make_node("Relu", ["down_sum"], ["down_out"], "down_relu"),
        conv("depthwise", "down_out", "depthwise_sum", group=32, **same),
        helper.make_node("Relu", ["depthwise_sum"], ["depthwise_out"], "depthwise_relu"),
        conv("pointwise", "depthwise_out", "pointwise_out", kernel_shape=[1, 1]),
        helper.make_node("Add", ["down_out", "pointwise_out"], ["residual_out"], "residual"),
        helper.make_node("MaxPool", ["residual_out"], ["pool_out"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["pool_out"], ["features"], "flatten"),
        helper.make_node("Gemm", ["features", "linear.w", "linear.b"], ["logits"], "linear", transB=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(value, name) for name, value in parameters.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="etch-example-digits")
    onnx.checker.check_model(model)
    return model


class TrainingImages(CalibrationDataReader):
    """The whole training set, one picture at a time."""

    def __init__(self, images):
        self.remaining = iter(images)

    def get_next(self):
        image = next(self.remaining, None)
        return None if image is None else {"image": image[None]}


def quantize(model, images):
    """Writes model.onnx from the float model, calibrated on `images`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "float.onnx"
        onnx.save(model, path)
        quantize_static(path, MODEL, TrainingImages(images), quant_format=QuantFormat.QDQ, per_channel=True,
                        weight_type=QuantType.QInt8, activation_type=QuantType.QInt8)


def integer_session():
    """ONNX Runtime with every quantized group as integer arithmetic; fails if any group stayed float."""
    with tempfile.TemporaryDirectory() as folder:
        optimized = pathlib.Path(folder) / "optimized.onnx"
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.qdqisint8allowed", "1")
        options.optimized_model_filepath = str(optimized)
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        session = ort.InferenceSession(MODEL, options, ["CPUExecutionProvider"])
        operators = [node.op_type for node in onnx.load(optimized).graph.node]
    # One Q at the input and one DQ at the output: everything between them works on integers.
    if operators.count("QuantizeLinear") != 1 or operators.count("DequantizeLinear") != 1:
        raise SystemExit(f"some group is not integer arithmetic: {operators}")
    return session


def write_goldens(images, logits):
    """test_data_set_K/{input,output}_0.pb, the layout of ONNX's own tests."""
    for k in range(DATA_SETS):
        folder = HERE / f"test_data_set_{k}"
        folder.mkdir(exist_ok=True)
        for file, array, name in (("input_0.pb", images, "image"), ("output_0.pb", logits, "logits")):
            tensor = numpy_helper.from_array(array[k:k + 1], name)
            (folder / file).write_bytes(tensor.SerializeToString())


def write_held_out(images, labels, logits):
    """heldout.bin: per digit the label (1 byte), 64 pixels 0..16 (1 byte each), 10 logits (float32, little endian)."""
    record = np.dtype([("label", "u1"), ("pixels", "u1", 64), ("logits", "<f4", 10)])
    records = np.empty(len(labels), record)
    records["label"] = labels
    records["pixels"] = (images * 16).reshape(len(labels), 64)
    records["logits"] = logits
    records.tofile(HERE / "heldout.bin")


def etch_accuracy():
    """Accuracy in percent of the C++ that Etch makes, or None when Etch is not built."""
    etch = ROOT / "build/release/bin/etch"
    if not etch.exists():
        return None
    work = ROOT / "build/demo"
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([etch, "compile", MODEL, "-o", work / "digits", "--name", "digits", "--quiet"], **quiet)
    subprocess.run(["cmake", "-S", HERE, "-B", work / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DDIGITS_DIR={work / 'digits'}"], **quiet)
    subprocess.run(["cmake", "--build", work / "build"], **quiet)
    report = subprocess.run([work / "build/digits_demo", HERE / "heldout.bin"], check=True, capture_output=True,
                            text=True).stdout
    return float(re.search(r"accuracy: ([0-9.]+) %", report).group(1))


def main():
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    training, held_out, training_labels, labels = train_test_split(
        images, digits.target, test_size=HELD_OUT, random_state=SEED, stratify=digits.target)
    parameters = network.train(training, training_labels, SEED)
    quantize(float_model(parameters), training)

    session = integer_session()
    logits = np.concatenate([session.run(None, {"image": image[None]})[0] for image in held_out])
    write_goldens(held_out, logits)
    write_held_out(held_out, labels, logits)

    def percent(scores):
        return 100 * np.mean(scores.argmax(1) == labels)

    print(f"accuracy on {HELD_OUT} held-out digits")
    print(f"  float               {percent(network.forward(parameters, held_out)[0]):.2f} %")
    print(f"  int8, ONNX Runtime  {percent(logits):.2f} %")
    etch = etch_accuracy()
    print("  int8, Etch          " + ("not built" if etch is None else f"{etch:.2f} %"))


if __name__ == "__main__":
    main()
