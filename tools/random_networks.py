"""Random float networks, and the same networks quantized in the three forms that exporters write.

Used by tools/random_graphs.py. A network is made of the blocks that real ones have (convolutions with activations,
residual sums, squeeze-and-excite, concatenations, pools, a classifier), with random shapes and attributes; its tensors'
ranges are measured on random data, as a quantizer does. Everything follows from one seed.
"""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
# Operators whose output keeps the quantization of their input, as quantizers write them.
KEEPS_RANGE = {"MaxPool", "Reshape", "Flatten", "Transpose", "Slice", "Split", "Squeeze", "Unsqueeze", "DepthToSpace",
               "SpaceToDepth", "Resize"}
ACTIVATIONS = ["Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish"]


@dataclasses.dataclass
class FloatNode:
    op: str
    inputs: list
    outputs: list
    attributes: dict


class Network:
    """A float network under construction. Tensors are names; constants are in `constants`."""

    def __init__(self, rng, rank):
        self.rng, self.rank = rng, rank
        self.nodes, self.constants, self.shapes = [], {}, {}
        self.input_shape = [int(rng.integers(1, 3)) if rank == 2 else 1, int(rng.choice([1, 2, 3, 4, 8]))]
        sizes = {1: (12, 40), 2: (6, 18), 3: (4, 8)}[rank]
        self.input_shape += [int(rng.integers(*sizes)) for _ in range(rank)]
        self.shapes["x"] = self.input_shape
        self.open = ["x"]  # tensors of full rank that later blocks may use

    # ---- building ----

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def chance(self, p):
        return bool(self.rng.random() < p)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(array)
        return name

    def add(self, op, inputs, outputs=1, **attributes):
        names = [f"t{len(self.shapes) + k}" for k in range(outputs)]
        self.nodes.append(FloatNode(op, list(inputs), names, attributes))
        values = {name: np.zeros(self.shapes[name], np.float32) for name in inputs if name in self.shapes}
        model = float_model([self.nodes[-1]], {n: v.shape for n, v in values.items()}, self.constants, names)
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        for output in inferred.graph.output:
            self.shapes[output.name] = [d.dim_value for d in output.type.tensor_type.shape.dim]
        return names[0] if outputs == 1 else names

    def spatial(self, tensor):
        return self.shapes[tensor][2:]

    # ---- blocks: each takes a tensor and gives one ----

    def conv(self, x, out=None, plain=False):
        channels = self.shapes[x][1]
        out = out or int(self.pick([1, 2, 3, 4, 5, 6, 8, 8, 12, 16, 17, 24]))
        kernel = [1] * self.rank if plain else [int(self.pick([1, 2, 3, 3, 3, 5])) for _ in range(self.rank)]
        while np.prod(kernel) * out * channels > 4000 and max(kernel) > 1:  # recordings should stay small
            kernel[kernel.index(max(kernel))] -= 1
        attributes = {"kernel_shape": kernel}
        group = 1
        if not plain and self.chance(0.35):
            divisors = [g for g in range(1, channels + 1) if channels % g == 0]
            group = channels if self.chance(0.6) else int(self.pick(divisors))
            out = group * int(self.pick([1, 1, 2])) if group == channels else max(1, out // group) * group
            attributes["group"] = group
        if not plain:
            attributes["strides"] = [int(self.pick([1, 1, 2])) for _ in range(self.rank)]
            dilations = [int(self.pick([1, 1, 1, 2])) for _ in range(self.rank)]
            if self.chance(0.3) and max(dilations) == 1:
                attributes["auto_pad"] = self.pick(["SAME_UPPER", "SAME_LOWER"])
            else:
                attributes["dilations"] = dilations
                reach = [(k - 1) * d for k, d in zip(kernel, dilations)]
                begin = [int(self.rng.integers(0, r + 1)) for r in reach]
                end = [max(0, r - b, r + 1 - s - b) if self.chance(0.8) else int(max(0, r + 1 - s - b))
                       for r, b, s in zip(reach, begin, self.spatial(x))]
                attributes["pads"] = begin + end
        inputs = [x, self.constant(self.rng.normal(0, 1, [out, channels // group] + kernel).astype(np.float32))]
        if self.chance(0.7):
            inputs.append(self.constant(self.rng.normal(0, 1, [out]).astype(np.float32)))
        return self.add("Conv", inputs, **attributes)

    def activation(self, x, names=None):
        op = self.pick(names or ACTIVATIONS)
        if op == "Clip":
            return self.add(op, [x, self.constant(np.float32(0)), self.constant(np.float32(self.pick([1, 6])))])
        if op == "LeakyRelu":
            return self.add(op, [x], alpha=float(self.pick([0.01, 0.1, 0.25])))
        return self.add(op, [x])

    def conv_block(self, x):
        y = self.conv(x, plain=self.chance(0.4))
        return self.activation(y) if self.chance(0.7) else y

    def residual(self, x):
        y = self.conv(x, out=self.shapes[x][1], plain=True)
        y = self.activation(y, ["Relu", "Clip", "LeakyRelu"]) if self.chance(0.5) else y
        y = self.add(self.pick(["Add", "Add", "Mul", "Sub"]), [x, y] if self.chance(0.5) else [y, x])
        return self.activation(y, ["Relu"]) if self.chance(0.5) else y

    def squeeze_excite(self, x):
        y = self.add("GlobalAveragePool", [x])
        y = self.activation(self.conv(y, plain=True), ["Relu"])
        y = self.conv(y, out=self.shapes[x][1], plain=True)
        y = self.activation(y, ["Sigmoid", "HardSigmoid"])
        return self.add("Mul", [x, y])

    def pool(self, x):
        kernel = [min(int(self.pick([2, 2, 3])), s) for s in self.spatial(x)]
        attributes = {"kernel_shape": kernel, "strides": [int(self.pick([1, 2])) for _ in kernel]}
        if self.chance(0.3):
            attributes["pads"] = [k // 2 for k in kernel] * 2
        return self.add(self.pick(["MaxPool", "AveragePool"]), [x], **attributes)

    def plain_block(self, x):
        y = self.conv(x)
        return self.activation(y, ["Relu", "Clip", "LeakyRelu"]) if self.chance(0.7) else y

    def plain_pool(self, x):
        return self.add("MaxPool", [x], kernel_shape=[min(2, s) for s in self.spatial(x)])

    def concat(self, x):
        fitting = [t for t in self.open if self.spatial(t) == self.spatial(x) and self.shapes[t][0] == self.shapes[x][0]]
        others = [self.pick(fitting) for _ in range(int(self.rng.integers(1, 3)))]
        return self.add("Concat", [x] + others, axis=1)

    def split_join(self, x):
        if self.shapes[x][1] % 2:
            return self.conv_block(x)
        a, b = self.add("Split", [x], outputs=2, axis=1)
        a = self.conv(a, out=self.shapes[b][1], plain=True)
        return self.add(self.pick(["Concat", "Concat"]), [b, a], axis=1)

    def resize(self, x):
        if self.rank != 2 or max(self.spatial(x)) > 20:
            return self.conv_block(x)
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        self.constants.setdefault("roi", np.zeros([0], np.float32))
        return self.add("Resize", [x, "roi", scales], mode="nearest", nearest_mode="floor",
                        coordinate_transformation_mode="asymmetric")

    def pad(self, x):
        pads = [0, 0] + [int(self.rng.integers(0, 3)) for _ in range(self.rank)]
        pads += [0, 0] + [int(self.rng.integers(0, 3)) for _ in range(self.rank)]
        return self.add("Pad", [x, self.constant(np.array(pads, np.int64)), self.constant(np.float32(0))],
                        mode="constant")

    def slice(self, x):
        axis = int(self.rng.integers(1, self.rank + 2))
        size = self.shapes[x][axis]
        start = int(self.rng.integers(0, max(1, size // 3)))
        arrays = [np.array([v], np.int64) for v in (start, size, axis, int(self.pick([1, 1, 2])))]
        return self.add("Slice", [x] + [self.constant(a) for a in arrays])

    def shuffle(self, x):
        """ShuffleNet's: the channels as two rows, transposed."""
        n, channels = self.shapes[x][:2]
        if channels % 2 or self.rank != 2:
            return self.conv_block(x)
        rows = self.constant(np.array([n, 2, channels // 2] + self.spatial(x), np.int64))
        back = self.constant(np.array(self.shapes[x], np.int64))
        y = self.add("Transpose", [self.add("Reshape", [x, rows])], perm=[0, 2, 1, 3, 4])
        return self.add("Reshape", [y, back])

    def head(self, x):
        """Flattens and classifies; the result has rank 2."""
        kind = self.pick(["GlobalAveragePool", "ReduceMean", "Flatten"])
        if kind == "ReduceMean":
            y = self.add("ReduceMean", [x], axes=list(range(2, self.rank + 2)), keepdims=0)
        else:
            y = self.add("GlobalAveragePool", [x]) if kind == "GlobalAveragePool" else x
            y = self.add("Flatten", [y], axis=1)
        depth, classes = self.shapes[y][1], int(self.pick([2, 5, 10, 17]))
        if self.chance(0.5):
            transposed = int(self.chance(0.5))
            w = self.rng.normal(0, 1, [classes, depth] if transposed else [depth, classes]).astype(np.float32)
            bias = self.constant(self.rng.normal(0, 1, [classes]).astype(np.float32))
            y = self.add("Gemm", [y, self.constant(w), bias], transB=transposed)
        else:
            y = self.add("MatMul", [y, self.constant(self.rng.normal(0, 1, [depth, classes]).astype(np.float32))])
        return self.add("Softmax", [y], axis=-1) if self.chance(0.5) else y

    def grow(self, nodes, blocks):
        while len(self.nodes) < nodes:
            block = getattr(self, self.pick(blocks))
            y = block(self.open[-1] if self.chance(0.7) else self.pick(self.open))
            if int(np.prod(self.shapes[y])) <= 20_000:
                self.open.append(y)

    def outputs(self):
        used = {name for node in self.nodes for name in node.inputs}
        return [name for node in self.nodes for name in node.outputs if name not in used]


def float_model(nodes, inputs, constants, outputs):
    used = {name for node in nodes for name in node.inputs}
    graph = helper.make_graph(
        [helper.make_node(n.op, n.inputs, n.outputs, **n.attributes) for n in nodes], "network",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items() if name in used])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


BLOCKS = ["conv_block"] * 5 + ["residual"] * 3 + ["pool"] * 2 + ["squeeze_excite", "concat", "split_join", "resize",
                                                                 "pad", "slice", "shuffle"]
# Blocks between whose products every runtime computes floats alike: single operations, in one order.
PLAIN_BLOCKS = ["plain_block"] * 4 + ["residual"] * 2 + ["concat", "slice", "plain_pool"]


def make_network(seed, plain=False):
    rng = np.random.default_rng(seed)
    network = Network(rng, int(rng.choice([1, 2, 2, 2, 2, 3])))
    network.grow(int(rng.integers(3, 34)), PLAIN_BLOCKS if plain else BLOCKS)
    if not plain:
        network.head(network.open[-1])
    return network
