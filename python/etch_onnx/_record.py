"""Test data of a model as ONNX Runtime computes it: `etch record`."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from . import _reference
from ._program import EtchError, Model, Path
from ._samples import Samples, array_names, data_set_folders, numpy_files, random_sample, write_data_set


def record(
    model: Model,
    inputs: Path = "random",
    *,
    output: Path | None = None,
    count: int | None = None,
    seed: int = 0,
    dim: Mapping[str, Any] | None = None,
    input_shape: Mapping[str, Sequence[int]] | None = None,
) -> list[pathlib.Path]:
    """Writes test_data_set_0, test_data_set_1 ... to `output` (default: the folder of the model) and returns them.

    inputs: a folder of .npy or .npz files or of test data, a .npy or .npz file with all samples, or "random". count: at
    most this many samples, or that many random ones (default 1). dim, input_shape: sizes that the model leaves open; those
    of random inputs are 1 by default."""
    if output is None and not isinstance(model, (str, os.PathLike)):
        raise EtchError("record needs `output` for a model that is no file", 1)
    loaded = _reference.load(model)
    session = _reference.session(loaded)
    base = pathlib.Path(output) if output is not None else pathlib.Path(os.fspath(model)).parent
    shapes = _reference.shapes(loaded, dim, input_shape)
    if os.fspath(inputs) == "random":
        ports = _reference.inputs(loaded)
        samples = [random_sample(ports, seed + k, shapes) for k in range(count or 1)]
    else:
        found = Samples(inputs, shapes, _reference.types(loaded))
        samples = [found[k] for k in range(min(count or len(found), len(found)))]
    folders = []
    for k, sample in enumerate(samples):
        folders.append(base / f"test_data_set_{k}")
        write_data_set(folders[-1], sample, _reference.run(session, sample))
    return folders


def _arrays(path: pathlib.Path) -> set[str] | None:
    """Names of the arrays of samples in files of NumPy, "" for the one of a .npy file; None of other data."""
    if path.is_dir():
        if data_set_folders(path):
            return None
        path = next(iter(numpy_files(path)), path)
    if not path.is_file() or path.suffix not in (".npz", ".npy"):
        return None
    return array_names(path)


# Options of a network that is no longer the file's, which is what ONNX Runtime computes.
OTHER_NETWORK = ("cut", "constant", "quantize_input", "state")


def data_sets(
    model: Model,
    data: Path,
    folder: pathlib.Path,
    dim: Mapping[str, Any] | None = None,
    input_shape: Mapping[str, Sequence[int]] | None = None,
) -> list[Path]:
    """Test data for `etch check`: `data` itself, or, where that are samples without outputs, folders beneath `folder`
    with what ONNX Runtime computes of them at the sizes of `dim` and `input_shape`. Without ONNX Runtime the program says
    what is missing."""
    names = _arrays(pathlib.Path(data))
    if names is None:
        return [data]
    try:
        loaded = _reference.load(model)
    except EtchError:
        return [data]
    outputs = [port.name for port in loaded.graph.output]
    if all({name, f"output_{i}"} & names for i, name in enumerate(outputs)):
        return [data]
    return list(record(loaded, data, output=folder, dim=dim, input_shape=input_shape))
