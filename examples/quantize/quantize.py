#!/usr/bin/env python3
"""Quantizes a float ONNX network with ONNX Runtime's tools, with the settings that suit Etch, and records test data.

The calibration folder holds what the network will see: NAME.npy files with one input each (networks with one input), or
NAME.npz files with one array per input, called as the inputs are. About a hundred are enough. The first --goldens of
them, with what ONNX Runtime answers when all quantized groups run as integers, become test_data_set_K beside the result:
`etch check` compares with them.

    python3 -m venv build/venv && build/venv/bin/pip install -r examples/quantize/requirements.txt
    build/venv/bin/python examples/quantize/quantize.py float.onnx int8/model.onnx --calibration pictures/
    build/release/bin/etch check int8/model.onnx
"""

import argparse
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Samples(CalibrationDataReader):
    """The files of the calibration folder, one after the other."""

    def __init__(self, folder, input_names):
        self.files = sorted(path for path in folder.iterdir() if path.suffix in (".npy", ".npz"))
        if not self.files:
            raise SystemExit(f"{folder} holds no .npy or .npz file")
        self.input_names = input_names
        self.rewind()

    def read(self, path):
        if path.suffix == ".npz":
            with np.load(path) as arrays:
                return {name: arrays[name] for name in self.input_names}
        if len(self.input_names) != 1:
            raise SystemExit(f"{path}: the network has the inputs {self.input_names}, so samples must be .npz files")
        return {self.input_names[0]: np.load(path)}

    def rewind(self):
        self.remaining = iter(self.files)

    def get_next(self):
        path = next(self.remaining, None)
        return None if path is None else self.read(path)


def input_names(model):
    return [port.name for port in ort.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()]


def one_file(float_model, folder):
    """The float network with its weights inside: exporters, PyTorch's among them, put them into a file beside it
    (NAME.onnx.data), which neither shape inference nor the quantizer looks for from another folder."""
    result = pathlib.Path(folder) / "float.onnx"
    try:
        model = onnx.load(float_model)  # with the files of its folder
        if model.ByteSize() >= 2**31:
            raise SystemExit(f"{float_model}: networks of 2 GiB and more do not fit one ONNX file")
        onnx.save(model, result)
    except OSError as error:
        raise SystemExit(f"{float_model}: {error}") from error
    except onnx.checker.ValidationError as error:
        raise SystemExit(f"{float_model}: its weights are in other files, which must lie beside it: {error}") from error
    return result


def quantize(options):
    """Writes the quantized model; gives the samples it was calibrated with."""
    activations = {"int8": QuantType.QInt8, "uint8": QuantType.QUInt8}[options.activations]
    options.result.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        float_model = one_file(options.float_model, folder)
        samples = Samples(options.calibration, input_names(float_model))
        # Folds batch normalization into convolutions and infers shapes: without it both would stay float islands.
        prepared = pathlib.Path(folder) / "prepared.onnx"
        quant_pre_process(float_model, prepared, skip_symbolic_shape=True)
        quantize_static(
            prepared, options.result, samples,
            quant_format=QuantFormat.QOperator if options.format == "qoperator" else QuantFormat.QDQ,
            per_channel=not options.per_tensor, weight_type=QuantType.QInt8, activation_type=activations)
    return samples


def integer_session(model):
    """ONNX Runtime with every quantized group as integer arithmetic, which is what Etch computes."""
    settings = ort.SessionOptions()
    settings.add_session_config_entry("session.qdqisint8allowed", "1")
    settings.log_severity_level = 3
    return ort.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def record_goldens(options, samples):
    session = integer_session(options.result)
    for k, path in enumerate(samples.files[:options.goldens]):
        feeds = samples.read(path)
        folder = options.result.parent / f"test_data_set_{k}"
        folder.mkdir(exist_ok=True)
        for role, arrays in (("input", feeds.values()), ("output", session.run(None, feeds))):
            for i, array in enumerate(arrays):
                (folder / f"{role}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("float_model", type=pathlib.Path)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--calibration", type=pathlib.Path, required=True, help="folder of .npy or .npz files")
    parser.add_argument("--activations", choices=["int8", "uint8"], default="int8")
    parser.add_argument("--format", choices=["qdq", "qoperator"], default="qdq")
    parser.add_argument("--per-tensor", action="store_true", help="one scale per weight tensor, not per channel")
    parser.add_argument("--goldens", type=int, default=3, help="how many samples become test data")
    options = parser.parse_args()
    samples = quantize(options)
    record_goldens(options, samples)
    print(f"{options.result}: quantized with {len(samples.files)} samples, "
          f"{min(options.goldens, len(samples.files))} recorded beside it")


if __name__ == "__main__":
    main()
