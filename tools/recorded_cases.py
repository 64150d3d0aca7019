"""Files of cases: cases.tsv and cases.bin, as tests/support/recorded_cases.h describes them."""

import struct

import numpy as np
import onnx
from onnx import numpy_helper


def case_blocks(model, tensors):
    """The bytes of a case: its model, then its inputs and outputs."""
    return [model.SerializeToString()] + [numpy_helper.from_array(np.asarray(v)).SerializeToString() for v in tensors]


def tensor_of(block):
    return numpy_helper.to_array(onnx.TensorProto.FromString(block))


def write_cases(folder, lines, blocks):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.tsv").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    (folder / "cases.bin").write_bytes(b"".join(struct.pack("<I", len(block)) + block for block in blocks))


def read_blocks(path):
    stored, at, out = path.read_bytes(), 0, []
    while at < len(stored):
        size = struct.unpack_from("<I", stored, at)[0]
        if at + 4 + size > len(stored):
            raise ValueError(f"{path} ends within a block")
        out.append(stored[at + 4 : at + 4 + size])
        at += 4 + size
    return out
