"""OpenVINO through its C interface, so that no Python runs between two calls.

Layers are given as OpenVINO's own operators (layer_model): for QLinearConv of an ONNX file its front
end either refuses or makes a convolution on bfloat16. A FakeQuantize before and one after the convolution is what its
passes turn into one int8 primitive; `primitives` tells what really runs.
"""

import ctypes
import pathlib

import gate
import numpy as np
import openvino
from layers import Layer
from models import INPUT_SCALE, numbers_of
from openvino import opset13 as op

DTYPES = {"u8": np.uint8, "i8": np.int8, "f32": np.float32, "i32": np.int32, "i64": np.int64}
PLUMBING = {"Input", "Output", "Const", "Constant", "Parameter", "Result"}


def options_of(threads: int) -> dict[str, str]:
    return {"INFERENCE_NUM_THREADS": str(threads), "NUM_STREAMS": "1", "PERFORMANCE_HINT": "LATENCY",
            "ENABLE_CPU_PINNING": "NO"}


def version() -> str:
    return openvino.__version__.split("-")[0]


def quantization_bounds(scale: np.float32, zero: np.ndarray) -> tuple[np.float32, np.float32]:
    limits = np.iinfo(zero.dtype)
    return tuple(np.float32((limit - int(zero)) * scale) for limit in (limits.min, limits.max))


def layer_model(layer: Layer, copies: int = 1) -> openvino.Model:
    dtype = "i8" if layer.signed else "u8"
    x = op.parameter([1, *layer.size, layer.channels], DTYPES[dtype], name="x")
    real = op.convert(op.transpose(x, np.array([0, 3, 1, 2])), "f32")
    first = numbers_of(layer)
    real = op.multiply(op.subtract(real, np.float32(first.input_zero)), INPUT_SCALE)
    bounds = quantization_bounds(INPUT_SCALE, first.input_zero)
    real = op.fake_quantize(real, *bounds, *bounds, 256)
    limits = np.iinfo(first.output_zero.dtype)
    results = []
    for i in range(copies):
        y = convolution(layer, real, numbers_of(layer, i))
        bounds = quantization_bounds(first.output_scale, first.output_zero)
        y = op.fake_quantize(y, *bounds, np.float32(limits.min), np.float32(limits.max), 256)
        results.append(op.transpose(op.convert(y, dtype), np.array([0, 2, 3, 1])))
    return openvino.Model(results, [x], "layer")


def convolution(layer: Layer, x, numbers):
    shape = layer.weight_shape if layer.groups == 1 else (layer.groups, 1, 1, *layer.kernel)
    scales = numbers.weight_scales.reshape(-1, *[1] * (len(shape) - 1))
    weights = op.multiply(op.convert(op.constant(numbers.weights.reshape(shape)), "f32"), op.constant(scales))
    make = op.convolution if layer.groups == 1 else op.group_convolution
    y = make(x, weights, [layer.stride] * 2, layer.pads[:2], layer.pads[2:], [1, 1])
    bias = (numbers.bias * numbers.weight_scales * INPUT_SCALE).astype(np.float32)
    return op.add(y, op.constant(bias.reshape(1, -1, 1, 1)))


class Library:
    """libopenvino_c with the checks of its status."""

    def __init__(self):
        found = sorted((pathlib.Path(openvino.__file__).parent / "libs").glob("libopenvino_c.so*"))
        self.functions = ctypes.CDLL(str(found[0]))
        self.core = self.make("ov_core_create")

    def make(self, function: str, *arguments) -> ctypes.c_void_p:
        """Calls a function whose last parameter is where to put the new object."""
        handle = ctypes.c_void_p()
        self.call(function, *arguments, ctypes.byref(handle))
        return handle

    def call(self, function: str, *arguments) -> None:
        if getattr(self.functions, function)(*arguments) != 0:
            raise RuntimeError(f"openvino: {function} failed")

    def address(self, function: str) -> int:
        return ctypes.cast(getattr(self.functions, function), ctypes.c_void_p).value


class Session:
    library: Library | None = None
    core: openvino.Core | None = None

    def __init__(self, model: openvino.Model | bytes, feeds: list[np.ndarray], scratch: pathlib.Path, threads: int):
        """`model`: OpenVINO's or the bytes of an ONNX file."""
        Session.start()
        if isinstance(model, bytes):
            model = self.core.read_model(model)
        model.reshape({port: [size.get_length() if size.is_static else 1 for size in port.partial_shape]
                       for port in model.inputs})
        scratch.mkdir(parents=True, exist_ok=True)
        path = scratch / "openvino.xml"
        openvino.save_model(model, path, compress_to_fp16=False)
        options = options_of(threads)
        compiled = self.core.compile_model(str(path), "CPU", options)
        self.primitives = primitives_of(compiled)
        texts = [text.encode() for pair in options.items() for text in pair]
        self.compiled = ctypes.c_void_p()
        self.library.call("ov_core_compile_model_from_file", self.library.core, str(path).encode(), b"CPU",
                          ctypes.c_size_t(len(texts)), ctypes.byref(self.compiled), *texts)
        self.request = self.library.make("ov_compiled_model_create_infer_request", self.compiled)
        for i, feed in enumerate(feeds):
            self.tensor("input", i)[...] = feed.reshape(-1).view(np.uint8)
        self.ports = [(np.dtype(DTYPES[port.element_type.get_type_name()]), list(port.shape))
                      for port in compiled.outputs]

    @staticmethod
    def start() -> None:
        if Session.library is None:
            Session.library, Session.core = Library(), openvino.Core()
            Session.core.get_property("CPU", "RANGE_FOR_ASYNC_INFER_REQUESTS")  # loads the plugin

    def tensor(self, role: str, index: int) -> np.ndarray:
        """The bytes of an input or output."""
        tensor = self.library.make(f"ov_infer_request_get_{role}_tensor_by_index", self.request, ctypes.c_size_t(index))
        size, data = ctypes.c_size_t(), ctypes.c_void_p()
        self.library.call("ov_tensor_get_byte_size", tensor, ctypes.byref(size))
        self.library.call("ov_tensor_data", tensor, ctypes.byref(data))
        return np.ctypeslib.as_array(ctypes.cast(data, ctypes.POINTER(ctypes.c_uint8)), (size.value,))

    def callee(self, timer: gate.Gate) -> gate.Callee:
        callee = timer.foreign(self.library.address("ov_infer_request_infer"), self.request, status_bits=32)
        callee.keep = self
        return callee

    def run(self) -> list[np.ndarray]:
        self.library.call("ov_infer_request_infer", self.request)
        return [self.tensor("output", i).view(dtype).reshape(shape) for i, (dtype, shape) in enumerate(self.ports)]

    def close(self) -> None:
        self.library.functions.ov_infer_request_free(self.request)
        self.library.functions.ov_compiled_model_free(self.compiled)


def primitives_of(compiled) -> list[str]:
    """What runs, in order: kind, primitive and its precision, such as "Convolution brgconv_avx512_I8"."""
    found = []
    for node in compiled.get_runtime_model().get_ordered_ops():
        info = node.get_rt_info()
        kind = info["layerType"].astype(str)
        if kind not in PLUMBING:
            found.append(f"{kind} {info['primitiveType'].astype(str)}")
    return found


def runs_on_integers(primitives: list[str]) -> bool:
    """Whether every convolution and product is an int8 primitive."""
    heavy = [one for one in primitives if one.split()[0] in ("Convolution", "FullyConnected", "MatMul")]
    return all(one.lower().endswith("_i8") for one in heavy)
