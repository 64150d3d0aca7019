"""Etch compiles quantized ONNX networks to C++; this package compiles, runs, checks and makes such networks from Python.

    import etch_onnx as etch

    net = etch.compile("model.onnx")
    outputs = net.run(image=pixels)

compile, generate and check run the program etch, which the package contains, and need only numpy. quantize, record and
debug also need onnx and onnxruntime (pip install 'etch-onnx[quantize]').
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._program import EtchError, program, version

if TYPE_CHECKING:
    from ._debug import TensorDifference, debug
    from ._network import CheckResult, Network, check, compile, generate
    from ._quantize import Comparison, Quantized, quantize
    from ._record import record

# What needs numpy is imported when it is asked for, so that the command `etch` starts at once.
_LATER = {
    "_debug": ("TensorDifference", "debug"),
    "_network": ("CheckResult", "Network", "check", "compile", "generate"),
    "_quantize": ("Comparison", "Quantized", "quantize"),
    "_record": ("record",),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return globals().setdefault(name, getattr(import_module(f"{__name__}.{module}"), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
