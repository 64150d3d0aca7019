"""oneDNN as Debian packages it (libdnnl-dev), through a small driver (dnnl_layer.cc): single convolutions only."""

import ctypes
import hashlib
import pathlib
import subprocess

import gate
import models
import numpy as np
from layers import Layer

INTEGERS = ("channels", "filters", "groups", "height", "width", "out_height", "out_width", "kernel_height",
            "kernel_width", "stride")
SETTINGS = ("is_signed", "zero_points", "input_zero", "output_zero", "threads")


class LayerFacts(ctypes.Structure):
    _fields_ = [*[(name, ctypes.c_int64) for name in INTEGERS], ("pads", ctypes.c_int64 * 4),
                *[(name, ctypes.c_int64) for name in SETTINGS],
                *[(name, ctypes.c_void_p) for name in ("weights", "bias", "scales")]]


class Library:
    def __init__(self, folder: pathlib.Path):
        source = pathlib.Path(__file__).with_name("dnnl_layer.cc")
        path = folder / f"dnnl_{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}.so"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-fopenmp", str(source), "-ldnnl", "-o",
                            str(path)], check=True)
        self.functions = ctypes.CDLL(str(path))
        self.functions.dnnl_layer_make.restype = ctypes.c_void_p
        self.functions.dnnl_layer_version.restype = ctypes.c_char_p

    @property
    def version(self) -> str:
        return self.functions.dnnl_layer_version().decode()


class Convolution:
    def __init__(self, library: Library, layer: Layer, threads: int, zero_points: bool):
        self.functions = library.functions
        self.layer = layer
        self.arrays, facts = facts_of(layer, threads, zero_points)
        self.handle = self.functions.dnnl_layer_make(ctypes.byref(facts))
        if not self.handle:
            raise RuntimeError("oneDNN has no such convolution")
        image = np.ascontiguousarray(models.input_of(layer))
        self.functions.dnnl_layer_set_input(ctypes.c_void_p(self.handle), ctypes.c_void_p(image.ctypes.data))

    def callee(self) -> gate.Callee:
        address = ctypes.cast(self.functions.dnnl_layer_run, ctypes.c_void_p).value
        return gate.Callee(address, self.handle, self)

    def run(self) -> np.ndarray:
        self.functions.dnnl_layer_run(ctypes.c_void_p(self.handle))
        shape = (1, *self.layer.output_size, self.layer.filters)
        output = np.zeros(shape, np.int8 if self.layer.signed else np.uint8)
        self.functions.dnnl_layer_get_output(ctypes.c_void_p(self.handle), ctypes.c_void_p(output.ctypes.data))
        return output

    def close(self) -> None:
        self.functions.dnnl_layer_free(ctypes.c_void_p(self.handle))


def facts_of(layer: Layer, threads: int, zero_points: bool) -> tuple[list[np.ndarray], LayerFacts]:
    numbers = models.numbers_of(layer)
    scales = (models.INPUT_SCALE * numbers.weight_scales / numbers.output_scale).astype(np.float32)
    arrays = [numbers.weights, numbers.bias, scales]
    values = dict(zip(INTEGERS, (layer.channels, layer.filters, layer.groups, *layer.size, *layer.output_size,
                                 *layer.kernel, layer.stride)))
    facts = LayerFacts(**values, pads=(ctypes.c_int64 * 4)(*layer.pads), is_signed=layer.signed,
                       zero_points=zero_points, input_zero=int(numbers.input_zero),
                       output_zero=int(numbers.output_zero), threads=threads, weights=arrays[0].ctypes.data,
                       bias=arrays[1].ctypes.data, scales=arrays[2].ctypes.data)
    return arrays, facts
