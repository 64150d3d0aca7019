"""From a float network to an int8 one with ONNX Runtime's quantizer, with the settings that suit Etch, test data and a
comparison: `etch quantize`."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import pathlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _reference
from ._compare import Difference, decibel, finite
from ._network import generate
from ._pools import pools_for_means
from ._program import EtchError, Model, Path, extra
from ._samples import Samples, data_set_folders, write_data_set

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True)
class Comparison:
    """An output of the quantized network against the float one, over all samples. agreement: the share of rows (along the
    last axis) in which the float network's largest element is the quantized one's, or one of several that are equally large;
    None where rows have one element. worst: the largest difference."""

    output: str
    sqnr_db: float
    worst: float
    agreement: float | None

    def __str__(self) -> str:
        top = "" if self.agreement is None else f", top-1 agreement {100 * self.agreement:.1f} %"
        return f"{self.output}: SQNR {decibel(self.sqnr_db)}, largest difference {self.worst:.4g}{top}"


@dataclasses.dataclass(frozen=True)
class Quantized:
    """What quantize() has written. float_macs: multiplications that stay in float, of `macs`; both None where Etch refuses
    the network, with the reason in `refusal`."""

    model: pathlib.Path
    data_sets: list[pathlib.Path]
    samples: int
    comparison: list[Comparison]
    macs: int | None
    float_macs: int | None
    refusal: str | None
    recurrent: list[str] = dataclasses.field(default_factory=list)


def _quantizer() -> Any:
    try:
        import onnxruntime.quantization as quantization
        import onnxruntime.quantization.shape_inference
    except ImportError as error:
        raise extra("onnxruntime with its quantizer", error) from error
    return quantization


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the notes of the quantizer and of ONNX Runtime about a network that is half made; errors are still said."""
    _, ort = _reference.packages()
    logger = logging.getLogger()  # the quantizer's: it has none of its own
    level = logger.level
    logger.setLevel(logging.ERROR)
    ort.set_default_logger_severity(3)
    try:
        yield
    finally:
        logger.setLevel(level)
        ort.set_default_logger_severity(2)


_LEAST_OPSET = 13  # of QuantizeLinear and DequantizeLinear with a scale per channel
_LEAST_UNCONVERTED_OPSET = 11  # below it ONNX Runtime's quantizer has the network converted, whatever the scales


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0]


def _with_scales_per_channel(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model in an operator set that has scales per channel. The quantizer writes them into older ones all the same,
    and ONNX Runtime refuses what comes out."""
    onnx, _ = _reference.packages()
    opset = next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), _LEAST_OPSET)
    if opset >= _LEAST_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, _LEAST_OPSET)
    except Exception as error:  # its classes have no common base of their own
        other = " or more, or quantize it with --per-tensor" if opset >= _LEAST_UNCONVERTED_OPSET else " or more"
        raise EtchError(
            f"scales per channel need operator set {_LEAST_OPSET}, the network has {opset}, and ONNX's converter fails "
            f"({_first_line(error)}): export it anew with opset_version={_LEAST_OPSET}{other}",
            2,
        ) from error


def _without_empty_inputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without those of Resize, whose region and scales were empty tensors where they did not count up to operator
    set 12. From 13 on scales beside sizes must be omitted, and ONNX Runtime fails where it moves a transposition past a
    Resize with an empty region."""
    onnx, _ = _reference.packages()
    out: onnx.ModelProto = onnx.ModelProto()
    out.CopyFrom(model)
    tensors = {tensor.name: tensor for tensor in out.graph.initializer}
    for node in out.graph.node:
        if node.op_type == "Constant":
            tensors.update({node.output[0]: each.t for each in node.attribute if each.name == "value"})
    for node in out.graph.node:
        if node.op_type != "Resize":
            continue
        for i in range(1, len(node.input)):
            if node.input[i] in tensors and 0 in tensors[node.input[i]].dims:
                node.input[i] = ""
    return out


def _biases_as_vectors(model: onnx.ModelProto) -> bool:
    """Of Gemm, as which ONNX Runtime fuses a MatMul and an Add of [1, N], where it leaves the bias so; the quantizer
    fails for it. Whether there was one."""
    onnx, _ = _reference.packages()
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    found = False
    for node in model.graph.node:
        bias = constants.get(node.input[2]) if node.op_type == "Gemm" and len(node.input) > 2 else None
        if bias is None or len(bias.dims) != 2 or bias.dims[0] != 1:
            continue
        vector = onnx.TensorProto()
        vector.CopyFrom(bias)
        vector.name = node.input[2] = f"{bias.name}_of_{node.output[0]}"
        vector.dims[:] = bias.dims[1:]
        model.graph.initializer.append(vector)
        found = True
    return found


def _quantize_file(
    model: onnx.ModelProto, result: pathlib.Path, samples: Samples, settings: dict[str, Any], most: int | None
) -> None:
    quantization = _quantizer()

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.rewind()

        def rewind(self) -> None:
            self.remaining = iter(samples[k] for k in range(min(most or len(samples), len(samples))))

        def get_next(self) -> Any:
            return next(self.remaining, None)

    onnx, _ = _reference.packages()
    with _quiet(), tempfile.TemporaryDirectory(prefix="etch-python-") as folder:
        source, prepared = pathlib.Path(folder) / "float.onnx", pathlib.Path(folder) / "prepared.onnx"
        onnx.save(_without_empty_inputs(_with_scales_per_channel(model)) if settings["per_channel"] else model, source)
        try:
            # Folds constants and batch normalization into convolutions and infers shapes: without it they stay float.
            quantization.shape_inference.quant_pre_process(source, prepared, skip_symbolic_shape=True)
            inferred = onnx.load(prepared)
            pooled, flattened = pools_for_means(inferred), _biases_as_vectors(inferred)
            if pooled or flattened:
                onnx.save(onnx.shape_inference.infer_shapes(inferred), prepared)
            quantization.quantize_static(prepared, result, Reader(), **settings)
        except (EtchError, OSError):
            raise
        except Exception as error:  # of any class
            raise EtchError(
                f"ONNX Runtime's quantizer fails: {type(error).__name__}: {_first_line(error)}; --exclude NODE "
                "leaves a node in float, --per-tensor and --format qoperator take other ways through it",
                2,
            ) from error


def _settings(activations: str, qoperator: bool, per_tensor: bool, method: str, exclude: list[str]) -> dict[str, Any]:
    quantization = _quantizer()
    types = {"int8": quantization.QuantType.QInt8, "uint8": quantization.QuantType.QUInt8}
    methods = {each.name.lower(): each for each in quantization.CalibrationMethod}
    if activations not in types or method not in methods:
        raise EtchError(f"activations are one of {list(types)}, the method one of {list(methods)}", 1)
    return {
        "quant_format": quantization.QuantFormat.QOperator if qoperator else quantization.QuantFormat.QDQ,
        "per_channel": not per_tensor,
        "reduce_range": False,  # no sum saturates in Etch, so the eighth bit of weights costs nothing
        "weight_type": quantization.QuantType.QInt8,
        "activation_type": types[activations],
        "calibrate_method": methods[method],
        "nodes_to_exclude": exclude,
    }


def _agrees(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Whether the largest element of a row is as large as any in `actual`, whose values are coarse and often equal."""
    top = np.argmax(expected, axis=-1)[..., np.newaxis]
    return np.asarray(np.take_along_axis(actual, top, axis=-1)[..., 0] == np.max(actual, axis=-1))


def _compare(float_model: onnx.ModelProto, result: pathlib.Path, samples: Samples) -> list[Comparison]:
    reference, quantized = _reference.session(float_model), _reference.session(result)
    sums: dict[str, Difference] = {}
    agreed: dict[str, list[int]] = {}
    for k in range(len(samples)):
        expected, actual = _reference.run(reference, samples[k]), _reference.run(quantized, samples[k])
        for name, value in expected.items():
            sums.setdefault(name, Difference()).add(actual[name], value)
            if value.ndim and value.shape[-1] > 1:
                same = _agrees(actual[name], value)
                count = agreed.setdefault(name, [0, 0])
                count[0] += int(np.count_nonzero(same))
                count[1] += same.size
    return [
        Comparison(
            name, each.sqnr_db, each.largest, agreed[name][0] / agreed[name][1] if name in agreed else None
        )
        for name, each in sums.items()
    ]


def _remove_stale(folder: pathlib.Path) -> None:
    """The test data of an earlier quantization, which are not those of the new network."""
    if not (folder / "comparison.json").exists():
        return  # not ours
    for each in data_set_folders(folder):
        if each != folder:
            shutil.rmtree(each)


def _look_with_etch(model: pathlib.Path) -> tuple[int | None, int | None, str | None]:
    with tempfile.TemporaryDirectory(prefix="etch-python-") as folder:
        try:
            report = generate(model, pathlib.Path(folder) / "code")
        except EtchError as error:
            return None, None, str(error)
    return report["macs"], report["float_macs"], None


def quantize(
    model: Model,
    output: Path,
    calibration: Path,
    *,
    activations: str = "int8",
    qoperator: bool = False,
    per_tensor: bool = False,
    method: str = "minmax",
    exclude: list[str] | None = None,
    data_sets: int = 3,
    samples: int | None = None,
) -> Quantized:
    """Quantizes a float network to `output`/model.onnx, and writes test_data_set_* of its first samples, and
    comparison.json with how far its outputs are from the float network's.

    calibration: a folder of .npy files (networks with one input), of .npz files with one array per input, or of test
    data; or one .npz file whose arrays have the samples along the first axis. activations: int8 or uint8. method: minmax,
    entropy, percentile or distribution. exclude: nodes that stay float. data_sets: how many samples become test data.
    samples: calibrate with the first so many only."""
    loaded = _reference.load(model)
    found = Samples(calibration, _reference.shapes(loaded), _reference.types(loaded))
    settings = _settings(activations, qoperator, per_tensor, method, exclude or [])
    folder = pathlib.Path(output)
    result = folder / "model.onnx"
    with tempfile.TemporaryDirectory(prefix="etch-python-") as work:  # what fails leaves no folder
        made = pathlib.Path(work) / "model.onnx"
        _quantize_file(loaded, made, found, settings, samples)
        session = _reference.session(made)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, result)
    source = pathlib.Path(calibration).resolve()
    if folder.resolve() not in (source, *source.parents):
        _remove_stale(folder)
    recorded = []
    for k in range(min(data_sets, len(found))):
        recorded.append(folder / f"test_data_set_{k}")
        write_data_set(recorded[-1], found[k], _reference.run(session, found[k]))
    comparison = _compare(loaded, result, found)
    macs, float_macs, refusal = _look_with_etch(result)
    written = [{**dataclasses.asdict(each), "sqnr_db": finite(each.sqnr_db)} for each in comparison]
    (folder / "comparison.json").write_text(json.dumps({"samples": len(found), "outputs": written}, indent=2) + "\n")
    kept = sorted({node.op_type for node in loaded.graph.node} & {"GRU", "LSTM", "RNN"})
    return Quantized(result, recorded, len(found), comparison, macs, float_macs, refusal, kept)
