"""What tools/exporters has made of two small networks by exporters and quantizers, each in its own words.

    python tools/exporter_cases.py                 the names of all cases
    python tools/exporter_cases.py CASE FOLDER     writes FOLDER/model.onnx and versions.txt

Weights are random, from a seed; what matters is which operators and which quantization the tools write. Expected outputs
are ONNX Runtime's (record(), in test_data_set_0), in test_data_set_0/disabled those without its optimisations.
"""
# ruff: noqa: PLC0415 (each case imports what it needs: no environment has all)
import contextlib
import importlib.metadata
import pathlib
import sys
import tempfile

import numpy as np

SHAPES = {"cnn": (1, 3, 32, 32), "attention": (1, 12, 16)}
CASES = {}  # name -> function(folder)


def case(name, *packages):
    def add(function):
        CASES[name] = (function, packages)
        return function
    return add


def samples(shape, count=8):
    rng = np.random.default_rng(1)
    return [rng.normal(0, 1, shape).astype(np.float32) for _ in range(count)]


# --- PyTorch ---------------------------------------------------------------------------------------------------------
def torch_network(kind):
    import torch
    from torch import nn
    torch.manual_seed(3)

    class Cnn(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU())
            self.deep = nn.Sequential(nn.Conv2d(16, 16, 3, 1, 1, groups=16), nn.ReLU6(), nn.Conv2d(16, 16, 1))
            self.down = nn.Sequential(nn.Conv2d(16, 32, 3, 2, 1), nn.Hardswish(), nn.MaxPool2d(2))
            self.last = nn.Linear(32, 10)

        def forward(self, x):
            x = self.first(x)
            x = self.down(x + self.deep(x))
            return self.last(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(2))
            self.parts = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))
            self.up, self.down, self.last = nn.Linear(16, 32), nn.Linear(32, 16), nn.Linear(16, 5)

        def forward(self, x):
            y = self.norms[0](x)
            q, k, v = (part(y).reshape(1, 12, 2, 8).transpose(1, 2) for part in self.parts[:3])
            weights = torch.softmax(q @ k.transpose(2, 3) / 8**0.5, -1)
            x = x + self.parts[3]((weights @ v).transpose(1, 2).reshape(1, 12, 16))
            x = x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))
            return self.last(x.mean(1))

    return {"cnn": Cnn, "attention": Attention}[kind]().eval()


def torch_export(model, shape, path, dynamo):
    import torch
    sample = (torch.zeros(shape),)
    if dynamo:
        torch.onnx.export(model, sample, path, dynamo=True, external_data=False, verbose=False, input_names=["x"])
    else:
        torch.onnx.export(model, sample, path, dynamo=False, opset_version=17, input_names=["x"])


def ort_quantize(source, target, shape, form):
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.rest = iter(samples(shape))

        def get_next(self):
            sample = next(self.rest, None)
            return None if sample is None else {"x": sample}

    prepared = str(source) + ".prepared.onnx"
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    if form == "dynamic":
        q.quantize_dynamic(prepared, target, weight_type=q.QuantType.QUInt8, op_types_to_quantize=["Conv", "MatMul", "Gemm"])
        return
    form, activations = form.split("_")
    types = {"s8": q.QuantType.QInt8, "u8": q.QuantType.QUInt8, "s16": q.QuantType.QInt16}
    q.quantize_static(prepared, target, Reader(), quant_format=getattr(q.QuantFormat, form),
                      per_channel=True, activation_type=types[activations], weight_type=q.QuantType.QInt8)


ORT_FORMS = {"QDQ int8": "QDQ_s8", "QDQ uint8": "QDQ_u8", "QOperator uint8": "QOperator_u8", "QDQ 16x8": "QDQ_s16",
             "dynamic": "dynamic"}


def add_torch_cases():
    def make(kind, dynamo, form):
        def write(folder):
            torch_export(torch_network(kind), SHAPES[kind], folder / "float.onnx", dynamo)
            ort_quantize(folder / "float.onnx", folder / "model.onnx", SHAPES[kind], form)
        return write
    for kind in SHAPES:
        for dynamo, exporter in ((False, "PyTorch torchscript"), (True, "PyTorch dynamo")):
            for words, form in ORT_FORMS.items():
                if kind == "attention" and form in ("QDQ_u8", "QOperator_u8"):
                    continue  # as the CNN's, and each case takes half a minute
                case(f"{kind} | {exporter} | ONNX Runtime {words}", "torch", "onnxscript",
                     "onnxruntime")(make(kind, dynamo, form))


add_torch_cases()


def add_etch_cases():
    def make(kind, dynamo):
        def write(folder):
            sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
            import etch_onnx
            torch_export(torch_network(kind), SHAPES[kind], folder / "float.onnx", dynamo)
            np.savez(folder / "samples.npz", x=np.stack(samples(SHAPES[kind])))
            etch_onnx.quantize(folder / "float.onnx", folder / "int8", folder / "samples.npz")
            (folder / "int8/model.onnx").rename(folder / "model.onnx")
        return write
    for kind in SHAPES:
        for dynamo, exporter in ((False, "PyTorch torchscript"), (True, "PyTorch dynamo")):
            case(f"{kind} | {exporter} | etch quantize", "torch", "onnxscript", "onnxruntime", "sympy")(make(kind, dynamo))


add_etch_cases()


def brevitas_cnn(signed):
    """`signed`: int8 after ReLU and biases of 32 bits; otherwise as tutorials have it: uint8 after ReLU, float biases."""
    import brevitas.nn as qnn
    import torch
    from brevitas.quant import Int8ActPerTensorFloat, Int32Bias, Uint8ActPerTensorFloat
    from torch import nn
    torch.manual_seed(3)
    bias = Int32Bias if signed else None
    after_relu = {"act_quant": Int8ActPerTensorFloat if signed else Uint8ActPerTensorFloat, "return_quant_tensor": True}

    def conv(*arguments, **more):
        return qnn.QuantConv2d(*arguments, weight_bit_width=8, bias_quant=bias, **more)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.input = qnn.QuantIdentity(act_quant=Int8ActPerTensorFloat, return_quant_tensor=True)
            self.first, self.relu = conv(3, 16, 3, stride=2, padding=1), qnn.QuantReLU(**after_relu)
            self.deep = conv(16, 16, 3, padding=1, groups=16)
            self.inner = qnn.QuantReLU(**after_relu)
            self.point, self.sum = conv(16, 16, 1), qnn.QuantIdentity(act_quant=Int8ActPerTensorFloat, return_quant_tensor=True)
            self.pool = nn.MaxPool2d(2)
            self.last = qnn.QuantLinear(16 * 8 * 8, 10, bias=True, weight_bit_width=8, bias_quant=bias)

        def forward(self, x):
            x = self.relu(self.first(self.input(x)))
            x = self.sum(self.sum(self.point(self.inner(self.deep(x)))) + self.sum(x))
            return self.last(torch.flatten(self.pool(x), 1))

    net = Net()
    for sample in samples(SHAPES["cnn"]):  # ranges of activations are learned in training
        net(torch.from_numpy(sample))
    return net.eval()


def add_brevitas_cases():
    def make(signed):
        def write(folder):
            import torch
            from brevitas.export import export_onnx_qcdq
            export_onnx_qcdq(brevitas_cnn(signed), torch.zeros(SHAPES["cnn"]), str(folder / "model.onnx"), opset_version=17,
                             dynamo=False)
        return write
    for words, signed in (("QCDQ, uint8 after ReLU, float biases", False), ("QCDQ, int8, biases of 32 bits", True)):
        case(f"cnn | Brevitas | {words}", "brevitas", "torch", "onnxscript")(make(signed))


add_brevitas_cases()


@case("cnn | Brevitas | QONNX Quant", "brevitas", "torch", "onnxscript", "qonnx")
def brevitas_qonnx(folder):
    import torch
    from brevitas.export import export_qonnx
    export_qonnx(brevitas_cnn(signed=True), torch.zeros(SHAPES["cnn"]), str(folder / "model.onnx"), opset_version=17, dynamo=False)


@case("cnn | Brevitas | QONNX Quant, then qonnx QuantToQCDQ", "brevitas", "torch", "onnxscript", "qonnx")
def brevitas_qonnx_converted(folder):
    brevitas_qonnx(folder)
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.transformation.qonnx_to_qcdq import QuantToQCDQ
    ModelWrapper(str(folder / "model.onnx")).transform(QuantToQCDQ()).save(str(folder / "model.onnx"))


def add_nncf_cases():
    def of_onnx(kind):
        def write(folder):
            import nncf
            import onnx
            torch_export(torch_network(kind), SHAPES[kind], folder / "float.onnx", dynamo=False)
            model = nncf.quantize(onnx.load(folder / "float.onnx"), nncf.Dataset([{"x": s} for s in samples(SHAPES[kind])]))
            onnx.save(model, folder / "model.onnx")
        return write

    def of_torch(kind):
        def write(folder):
            import nncf
            import torch
            dataset = nncf.Dataset([torch.from_numpy(s) for s in samples(SHAPES[kind])])
            sample = dataset.get_inference_data([0])
            model = nncf.strip(nncf.quantize(torch_network(kind), dataset), example_input=next(iter(sample)))
            torch_export(model, SHAPES[kind], folder / "model.onnx", dynamo=False)
        return write
    for kind in SHAPES:
        case(f"{kind} | PyTorch torchscript | NNCF on ONNX", "nncf", "torch", "onnxscript", "onnxruntime")(of_onnx(kind))
        case(f"{kind} | NNCF on PyTorch | NNCF", "nncf", "torch", "onnxscript")(of_torch(kind))


add_nncf_cases()


def add_neural_compressor_cases():
    def of_torch(kind):
        def write(folder):
            import torch
            from neural_compressor.torch.quantization import StaticQuantConfig, convert, prepare
            exported = torch.export.export(torch_network(kind), (torch.zeros(SHAPES[kind]),)).module()
            prepared = prepare(exported, StaticQuantConfig())
            for sample in samples(SHAPES[kind]):
                prepared(torch.from_numpy(sample))
            torch_export(convert(prepared), SHAPES[kind], folder / "model.onnx", dynamo=True)
        return write

    def of_onnx(kind):
        def write(folder):
            from onnx_neural_compressor import data_reader
            from onnx_neural_compressor.quantization import QuantType, config, quantize

            class Reader(data_reader.CalibrationDataReader):
                def __init__(self):
                    self.rewind()

                def rewind(self):
                    self.rest = iter(samples(SHAPES[kind]))

                def get_next(self):
                    sample = next(self.rest, None)
                    return None if sample is None else {"x": sample}
            torch_export(torch_network(kind), SHAPES[kind], folder / "float.onnx", dynamo=False)
            settings = config.StaticQuantConfig(calibration_data_reader=Reader(), activation_type=QuantType.QUInt8)
            quantize(folder / "float.onnx", folder / "model.onnx", settings)
        return write
    for kind in SHAPES:
        case(f"{kind} | PyTorch dynamo | Neural Compressor 3", "neural_compressor", "torch", "onnxscript")(of_torch(kind))
        case(f"{kind} | PyTorch torchscript | Neural Compressor for ONNX", "onnx_neural_compressor", "torch")(of_onnx(kind))


add_neural_compressor_cases()


def add_accelerator_cases():
    """Quantizers of vendors, each with the settings that its own guide begins with."""
    def exported(kind, folder):
        torch_export(torch_network(kind), SHAPES[kind], folder / "float.onnx", dynamo=False)
        return folder / "float.onnx"

    def quark(kind, name):
        def write(folder):
            from onnxruntime.quantization import CalibrationDataReader
            from quark.onnx import ModelQuantizer
            from quark.onnx.quantization.config import Config, get_default_config

            class Reader(CalibrationDataReader):
                def __init__(self):
                    self.rest = iter(samples(SHAPES[kind]))

                def get_next(self):
                    sample = next(self.rest, None)
                    return None if sample is None else {"x": sample}
            settings = Config(global_quant_config=get_default_config(name))
            source = exported(kind, folder)
            with contextlib.chdir(folder):  # it leaves a table there
                ModelQuantizer(settings).quantize_model(str(source), str(folder / "model.onnx"), Reader())
        return write

    def modelopt(kind):
        def write(folder):
            from modelopt.onnx.quantization import quantize
            quantize(str(exported(kind, folder)), calibration_data=np.concatenate(samples(SHAPES[kind])), calibration_eps=["cpu"],
                     quantize_mode="int8", high_precision_dtype="fp32", output_path=str(folder / "model.onnx"))
        return write

    def aimet(kind, activations):
        def write(folder):
            import onnx
            from aimet_onnx import QuantizationSimModel
            model = QuantizationSimModel(onnx.load(exported(kind, folder)), default_activation_bw=activations, default_param_bw=8)
            model.compute_encodings([{"x": sample} for sample in samples(SHAPES[kind])])
            onnx.save(model.to_onnx_qdq(), folder / "model.onnx")
        return write

    def fx(kind):
        def write(folder):
            import torch
            from torch.ao.quantization import get_default_qconfig_mapping, quantize_fx
            tensors = [torch.from_numpy(sample) for sample in samples(SHAPES[kind])]
            model = quantize_fx.prepare_fx(torch_network(kind), get_default_qconfig_mapping("x86"), (tensors[0],))
            for tensor in tensors:
                model(tensor)
            torch_export(quantize_fx.convert_fx(model), SHAPES[kind], folder / "model.onnx", dynamo=False)
        return write
    case("cnn | PyTorch torchscript | AMD Quark XINT8", "quark", "torch", "onnxruntime")(quark("cnn", "XINT8"))
    case("cnn | PyTorch torchscript | NVIDIA ModelOpt int8", "modelopt", "torch", "onnxruntime")(modelopt("cnn"))
    case("cnn | PyTorch torchscript | AIMET int8", "aimet_onnx", "torch", "onnxruntime")(aimet("cnn", 8))
    case("cnn | PyTorch torchscript | AIMET 16x8", "aimet_onnx", "torch", "onnxruntime")(aimet("cnn", 16))
    case("cnn | PyTorch FX, torchscript | PyTorch x86", "torch", "onnxscript")(fx("cnn"))


add_accelerator_cases()


# --- TensorFlow, Keras -----------------------------------------------------------------------------------------------
def keras_cnn(activation="hard_swish"):
    import keras
    from keras import layers
    keras.utils.set_random_seed(3)
    x = first = keras.Input((32, 32, 3), batch_size=1, name="x")
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(16, 3, 2, "same")(x)))
    y = layers.Conv2D(16, 1)(layers.ReLU(6.0)(layers.DepthwiseConv2D(3, padding="same")(x)))
    x = layers.Activation(activation)(layers.Conv2D(32, 3, 2, "same")(layers.Add()([x, y])))
    x = layers.GlobalAveragePooling2D()(layers.MaxPooling2D(2)(x))
    return keras.Model(first, layers.Dense(10)(x))


def keras_samples():
    return samples((1, 32, 32, 3))


def tflite_file(folder, form):
    import tensorflow as tf
    # The converter has no 16-bit form of hard_swish.
    converter = tf.lite.TFLiteConverter.from_keras_model(keras_cnn("relu" if form == "16x8" else "hard_swish"))
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form != "dynamic":
        converter.representative_dataset = lambda: ([s] for s in keras_samples())
    if form == "int8":
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    if form == "16x8":
        kinds = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.target_spec.supported_ops = [kinds]
    path = folder / "model.tflite"
    path.write_bytes(converter.convert())
    return path


def add_tensorflow_cases():
    def of_tflite(form):
        def write(folder):
            import onnx
            import tf2onnx
            model, _ = tf2onnx.convert.from_tflite(str(tflite_file(folder, form)), opset=17)
            onnx.save(model, folder / "model.onnx")
        return write

    def of_keras(exporter, form):
        def write(folder):
            import onnx
            if exporter == "tf2onnx":
                import tensorflow as tf
                import tf2onnx
                function = tf.function(keras_cnn(), input_signature=[tf.TensorSpec((1, 32, 32, 3), tf.float32, "x")])
                onnx.save(tf2onnx.convert.from_function(function, function.input_signature, opset=17)[0],
                          folder / "float.onnx")
            else:
                model = keras_cnn()
                model(keras_samples()[0])
                model.export(folder / "float.onnx", format="onnx", verbose=False)
            ort_quantize(folder / "float.onnx", folder / "model.onnx", (1, 32, 32, 3), form)
        return write
    for form in ("int8", "float in and out", "16x8", "dynamic"):
        case(f"cnn | tf2onnx | TensorFlow Lite {form}", "tensorflow", "tf2onnx")(of_tflite(form))
    for exporter, words in (("tf2onnx", "tf2onnx from Keras"), ("keras", "Keras model.export")):
        case(f"cnn | {words} | ONNX Runtime QDQ int8", "tensorflow", "tf2onnx", "keras",
             "onnxruntime")(of_keras(exporter, "QDQ_s8"))


add_tensorflow_cases()


# --- expected outputs ------------------------------------------------------------------------------------------------
def input_of(port):
    shape = [size if isinstance(size, int) else 1 for size in port.shape]
    values = np.random.default_rng(2).normal(0, 1, shape)
    types = {"tensor(float)": np.float32, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8, "tensor(int16)": np.int16}
    kind = types[port.type]
    return values.astype(kind) if kind is np.float32 else (values * 40).clip(-128, 127).astype(np.int16).astype(kind)


def run(path, level, int8):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if int8:
        options.add_session_config_entry("session.qdqisint8allowed", "1")
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feeds = {port.name: input_of(port) for port in session.get_inputs()}
    return feeds, session.run(None, feeds)


def record(folder):
    import onnxruntime as ort
    from onnx import numpy_helper
    levels = ort.GraphOptimizationLevel
    feeds, optimised = run(folder / "model.onnx", levels.ORT_ENABLE_ALL, True)
    plain = run(folder / "model.onnx", levels.ORT_DISABLE_ALL, False)[1]
    data = folder / "test_data_set_0"
    for place, arrays, role in ((data, feeds.values(), "input"), (data, optimised, "output"),
                                (data / "disabled", feeds.values(), "input"), (data / "disabled", plain, "output")):
        place.mkdir(parents=True, exist_ok=True)
        for i, array in enumerate(arrays):
            (place / f"{role}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())


def main():
    if len(sys.argv) < 3:
        for name, (_, packages) in CASES.items():
            print(name + "\t" + " ".join(packages))
        return
    function, packages = CASES[sys.argv[1]]
    for package in packages:
        __import__(package)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    function(folder)
    distributions = importlib.metadata.packages_distributions()
    versions = sorted({f"{d} {importlib.metadata.version(d)}" for p in packages for d in distributions.get(p, [])[:1]})
    (folder / "versions.txt").write_text("\n".join(versions) + "\n")


if __name__ == "__main__":
    main()
    if len(sys.argv) == 4 and sys.argv[3] == "--record":
        record(pathlib.Path(sys.argv[2]))
