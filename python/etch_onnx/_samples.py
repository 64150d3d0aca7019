"""Samples of inputs and recorded tensors: folders of .npy and .npz files, one .npz file with all, test_data_set_*, random
ones; and the layout of ONNX's test data."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._program import EtchError, Path

if TYPE_CHECKING:
    import onnx
    from numpy.typing import NDArray

Sample = dict[str, "NDArray[Any]"]


def _number(path: pathlib.Path) -> tuple[int, str]:
    digits = re.search(r"(\d+)$", path.stem)
    return (int(digits.group(1)) if digits else 0, path.name)


def read_tensor(path: pathlib.Path) -> tuple[str, NDArray[Any]]:
    """Name and value in a TensorProto's file."""
    import onnx
    from google.protobuf.message import DecodeError

    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(path.read_bytes())
        return proto.name, onnx.numpy_helper.to_array(proto)
    except (OSError, DecodeError, TypeError, ValueError) as error:
        raise EtchError(f"{path}: {error}", 3) from error


def _is_numpy_set(folder: pathlib.Path) -> bool:
    """Whether the .npy files are the tensors of one set, and not samples that someone has called input_0, input_1 ..."""
    return (folder / "input_0.npy").is_file() and (folder / "output_0.npy").is_file()


def data_set_folders(folder: pathlib.Path) -> list[pathlib.Path]:
    """`folder` if it is one set of test data, else the sets in it in the order of their numbers."""
    if list(folder.glob("input_*.pb")) or list(folder.glob("input_*.bin")) or _is_numpy_set(folder):
        return [folder]
    return sorted((each for each in folder.glob("test_data_set_*") if each.is_dir()), key=_number)


def _elements(path: pathlib.Path, dtype: np.dtype[Any], shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Bare elements, row-major, in little endian. Of open sizes the first is 1 if there is another one, which follows from
    the length of the file."""
    sizes = [-1 if size is None else size for size in shape]
    if sizes.count(-1) == 2 and sizes[0] == -1:
        sizes[0] = 1
    try:
        flat = np.frombuffer(path.read_bytes(), dtype.newbyteorder("<")).astype(dtype)
        return flat.reshape(sizes)
    except OSError as error:
        raise EtchError(f"{path}: {error.strerror or error}", 3) from error
    except ValueError as error:
        wanted = ", ".join("?" if size is None else str(size) for size in shape)
        raise EtchError(f"{path}: its {path.stat().st_size} bytes are not {dtype}[{wanted}]", 3) from error


def read_data_set(
    folder: pathlib.Path,
    names: Sequence[str],
    role: str = "input",
    shapes: Mapping[str, tuple[int | None, ...]] | None = None,
    types: Mapping[str, np.dtype[Any]] | None = None,
) -> Sample:
    """The tensors ROLE_I.pb, or ROLE_I.npy where there is none, the I-th for the I-th name; of those with a shape and a type
    also ROLE_I.bin with the bare elements."""

    def one(name: str, stem: str) -> NDArray[Any]:
        pb, array, bare = (folder / f"{stem}.{suffix}" for suffix in ("pb", "npy", "bin"))
        if array.is_file() and not pb.is_file():
            return np.asarray(_load(array))
        if shapes and types and name in types and bare.is_file() and not pb.is_file():
            return _elements(bare, types[name], shapes[name])
        return read_tensor(pb)[1]

    return {name: one(name, f"{role}_{i}") for i, name in enumerate(names)}


def numpy_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files of NumPy in a folder, by the numbers at the ends of their names."""
    return sorted((each for each in folder.iterdir() if each.suffix in (".npy", ".npz")), key=_number)


def array_names(path: pathlib.Path) -> set[str]:
    """Of the arrays in a file of NumPy; "" of the one in a .npy file."""
    found = _load(path)
    if isinstance(found, np.ndarray):
        return {""}
    with found as arrays:
        return set(arrays.files)


def write_data_set(folder: pathlib.Path, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """One set of ONNX's test data: input_I.pb, output_I.pb."""
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    for role, tensors in (("input", inputs), ("output", outputs)):
        for stale in folder.glob(f"{role}_*.pb"):
            stale.unlink()
        for i, (name, array) in enumerate(tensors.items()):
            proto = onnx.numpy_helper.from_array(np.asarray(array), name)
            (folder / f"{role}_{i}.pb").write_bytes(proto.SerializeToString())


def _load(path: pathlib.Path) -> Any:
    try:
        return np.load(path)
    except (OSError, ValueError, EOFError) as error:
        raise EtchError(f"{path}: {error}", 3) from error


def _named(path: pathlib.Path, names: Sequence[str]) -> Sample:
    """The arrays of one file: of a .npz by their names, of a .npy the only input."""
    value = _load(path)
    if isinstance(value, np.ndarray):
        if len(names) != 1:
            raise EtchError(f"{path}: the network has the inputs {list(names)}, so samples must be .npz files", 1)
        return {names[0]: value}
    with value as arrays:
        missing = [name for name in names if name not in arrays]
        if missing:
            raise EtchError(f"{path}: has no array {missing[0]!r}; it has {list(arrays)}", 1)
        return {name: arrays[name] for name in names}


def _split(path: pathlib.Path, stacked: Sample, shapes: Mapping[str, tuple[int | None, ...]]) -> list[Sample]:
    """The samples along the first axis, which is the input's own axis where the ranks are equal: a sample has as much of it
    as the network takes."""

    def batch(name: str) -> int:
        return (shapes[name][0] or 1) if stacked[name].ndim == len(shapes[name]) and shapes[name] else 1

    counts = {len(array) // batch(name) if array.ndim else 0 for name, array in stacked.items()}
    if len(counts) != 1 or 0 in counts:
        raise EtchError(f"{path}: the first axis of every array must be the samples'", 1)

    def one(name: str, k: int) -> NDArray[Any]:
        array = stacked[name]
        return array[k * batch(name) : (k + 1) * batch(name)] if array.ndim == len(shapes[name]) else array[k]

    return [{name: one(name, k) for name in stacked} for k in range(counts.pop())]


def _fitted(array: NDArray[Any], shape: tuple[int | None, ...], double: bool) -> NDArray[Any]:
    """An array as people save it: without the batch axis if that is 1 or open, in float64 as numpy computes, which stays so
    only if it is `double` that the network takes."""
    if array.ndim == len(shape) - 1 and shape[0] in (None, 0, 1):
        array = array[np.newaxis]
    return array.astype(np.float32) if array.dtype == np.float64 and not double else array


class Samples:
    """Inputs of a network, one dictionary per sample, read when they are needed.

    `shapes`: of the network's inputs, None for an open size. Arrays of .npy and .npz files may lack the batch axis, and
    those of float64 become float32, except for inputs that are of float64 by `types`. Data sets of bare elements (.bin)
    need `types`."""

    def __init__(
        self, source: Path, shapes: Mapping[str, tuple[int | None, ...]], types: Mapping[str, np.dtype[Any]] | None = None
    ):
        path = pathlib.Path(source)
        self._shapes, self._types = shapes, types or {}
        self._names = list(shapes)
        self._stacked: list[Sample] = []
        self._files: list[pathlib.Path] = []
        if path.is_dir():
            self._files = data_set_folders(path) or numpy_files(path)
            if not self._files:
                raise EtchError(f"{path} has no .npy or .npz file and no test data", 1)
        elif path.suffix == ".npz" or (path.suffix == ".npy" and len(self._names) == 1):
            self._stacked = _split(path, _named(path, self._names), shapes)
        else:
            raise EtchError(f"{path} is neither a folder nor a .npz or .npy file with samples", 1)

    def __len__(self) -> int:
        return len(self._stacked) or len(self._files)

    def __getitem__(self, k: int) -> Sample:
        path = None if self._stacked else self._files[k]  # IndexError ends iteration
        if path is not None and path.is_dir():
            return read_data_set(path, self._names, shapes=self._shapes, types=self._types)
        sample = self._stacked[k] if path is None else _named(path, self._names)
        double = {name for name, dtype in self._types.items() if dtype == np.float64}
        return {name: _fitted(array, self._shapes[name], name in double) for name, array in sample.items()}


def random_sample(
    ports: Sequence[onnx.ValueInfoProto], seed: int, shapes: Mapping[str, tuple[int | None, ...]]
) -> Sample:
    """Values for every port, with 1 for sizes that `shapes` leaves open: floats of a normal distribution, integers of the
    whole range of 8 bits or 0 and 1."""
    import onnx

    generator = np.random.default_rng(seed)
    sample: Sample = {}
    for port in ports:
        tensor = port.type.tensor_type
        shape = [1 if size is None else size for size in shapes[port.name]]
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        if dtype.kind in "iu" and dtype.itemsize == 1:
            limits = np.iinfo(dtype)
            sample[port.name] = generator.integers(limits.min, limits.max + 1, shape).astype(dtype)
        elif dtype.kind in "iub":
            sample[port.name] = generator.integers(0, 2, shape).astype(dtype)
        else:
            sample[port.name] = generator.normal(size=shape).astype(dtype)
    return sample
