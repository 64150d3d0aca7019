"""Etch compiles quantized ONNX networks to C++; this package compiles, runs, checks and makes such networks from Python.

    import etch_onnx as etch

    net = etch.compile("model.onnx")
    outputs = net.run(image=pixels)

compile, generate and check run the program etch, which the package contains, and need only numpy. quantize, record and
debug also need onnx and onnxruntime (pip install 'etch-onnx[quantize]').
"""

from ._debug import TensorDifference, debug
from ._network import CheckResult, Network, check, compile, generate
from ._program import EtchError, program, version
from ._quantize import Comparison, Quantized, quantize
from ._record import record

__all__ = [
    "CheckResult",
    "Comparison",
    "EtchError",
    "Network",
    "Quantized",
    "TensorDifference",
    "check",
    "compile",
    "debug",
    "generate",
    "program",
    "quantize",
    "record",
    "version",
]
