"""ONNX Runtime through its C interface, so that no Python runs between two calls.

The wheel has the library but no header. The interface is a table of functions to which versions only append, so the
few that are needed are named here by their places.
"""

import ctypes
import pathlib

import gate
import numpy as np
import onnxruntime

API_VERSION = 17
SLOTS = {"GetErrorMessage": 2, "CreateEnv": 3, "CreateSessionFromArray": 8, "CreateSessionOptions": 10,
         "SetSessionGraphOptimizationLevel": 23, "SetIntraOpNumThreads": 24, "SetInterOpNumThreads": 25,
         "CreateTensorWithDataAsOrtValue": 49, "CreateCpuMemoryInfo": 69, "ReleaseSession": 95, "ReleaseValue": 96,
         "ReleaseSessionOptions": 100, "AddSessionConfigEntry": 130, "RunWithBinding": 133, "CreateIoBinding": 134,
         "ReleaseIoBinding": 135, "BindInput": 136, "BindOutput": 137}
LEVELS = {"basic": 1, "extended": 2, "all": 99}
ELEMENTS = {"tensor(float)": (1, np.float32), "tensor(float16)": (10, np.float16), "tensor(uint8)": (2, np.uint8),
            "tensor(int8)": (3, np.int8), "tensor(int32)": (6, np.int32), "tensor(int64)": (7, np.int64),
            "tensor(bool)": (9, np.bool_)}


def element_of(port) -> tuple[int, type]:
    return ELEMENTS[port.type]


class Api:
    def __init__(self):
        found = sorted(pathlib.Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so.*"))
        library = ctypes.CDLL(str(found[0]))
        library.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)
        get_api = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32)(library.OrtGetApiBase()[0])
        self.table = get_api(API_VERSION)
        self.environment = ctypes.c_void_p()
        self.call("CreateEnv", ctypes.c_int(3), b"bench", ctypes.byref(self.environment))

    def address(self, name: str) -> int:
        return self.table[SLOTS[name]]

    def call(self, name: str, *arguments) -> None:
        status = ctypes.CFUNCTYPE(ctypes.c_void_p)(self.address(name))(*arguments)
        if status and not name.startswith("Release"):
            message = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(self.address("GetErrorMessage"))(status)
            raise RuntimeError(f"onnxruntime: {name}: {message.decode()}")


class Session:
    """One model with one input value, ready to be timed; `outputs` are valid after a call."""

    api: Api | None = None

    def __init__(self, model: bytes, feeds: dict[str, np.ndarray], level: str, threads: int,
                 int8_allowed: bool = False):
        if Session.api is None:
            Session.api = Api()
        self.ports, shapes = ports_of(model, feeds)
        self.handles: list[tuple[str, ctypes.c_void_p]] = []
        options = self.make("CreateSessionOptions", "ReleaseSessionOptions")
        self.api.call("SetSessionGraphOptimizationLevel", options, ctypes.c_int(LEVELS[level]))
        self.api.call("SetIntraOpNumThreads", options, ctypes.c_int(threads))
        self.api.call("SetInterOpNumThreads", options, ctypes.c_int(1))
        if int8_allowed:
            self.api.call("AddSessionConfigEntry", options, b"session.qdqisint8allowed", b"1")
        self.session = self.make("CreateSessionFromArray", "ReleaseSession", self.api.environment, model,
                                 ctypes.c_size_t(len(model)), options)
        self.binding = self.make("CreateIoBinding", "ReleaseIoBinding", self.session)
        self.inputs = {port.name: np.ascontiguousarray(feeds[port.name]) for port in self.ports[0]}
        self.outputs = {port.name: np.zeros(shape, element_of(port)[1])
                        for port, shape in zip(self.ports[1], shapes)}
        for port in self.ports[0]:
            self.bind("BindInput", port, self.inputs[port.name])
        for port in self.ports[1]:
            self.bind("BindOutput", port, self.outputs[port.name])

    def make(self, function: str, release: str, *arguments) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self.api.call(function, *arguments, ctypes.byref(handle))
        if release:
            self.handles.append((release, handle))
        return handle

    def bind(self, function: str, port, array: np.ndarray) -> None:
        memory = self.make("CreateCpuMemoryInfo", "", ctypes.c_int(0), ctypes.c_int(0))
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        value = self.make("CreateTensorWithDataAsOrtValue", "ReleaseValue", memory, ctypes.c_void_p(array.ctypes.data),
                          ctypes.c_size_t(array.nbytes), shape, ctypes.c_size_t(array.ndim),
                          ctypes.c_int(element_of(port)[0]))
        self.api.call(function, self.binding, port.name.encode(), value)

    def callee(self, timer: gate.Gate) -> gate.Callee:
        callee = timer.foreign(self.api.address("RunWithBinding"), self.session, None, self.binding)
        callee.keep = self
        return callee

    def run(self) -> list[np.ndarray]:
        self.api.call("RunWithBinding", self.session, None, self.binding)
        return list(self.outputs.values())

    def close(self) -> None:
        for release, handle in reversed(self.handles):
            self.api.call(release, handle)
        self.handles = []


def ports_of(model: bytes, feeds: dict[str, np.ndarray]):
    """Inputs and outputs with names and types as the Python interface tells them, and the outputs' shapes."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    shapes = [port.shape for port in session.get_outputs()]
    if not all(isinstance(size, int) for shape in shapes for size in shape):
        shapes = [array.shape for array in session.run(None, feeds)]
    return (session.get_inputs(), session.get_outputs()), shapes
