#!/usr/bin/env python3
"""Writes networks of the vision architectures that people have, float and quantized, with recorded outputs.

Architectures come from torchvision, timm, tools/vision_detectors.py and tools/vision_models.py, with few and narrow
layers, small images and random weights; statistics of BatchNormalization are measured on noise, so that ranges are
natural. Each is exported by PyTorch and quantized by ONNX Runtime's tools. Writes FOLDER/NAME_FORM/model.onnx,
test_data_set_0 (`disabled`: the outputs without optimisations), for tools/compare-networks.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install torch torchvision timm onnx onnxscript onnxruntime sympy
    /tmp/v/bin/python tools/vision_networks.py build/vision --forms float,qdq_u8s8,qdq_s8s8,qop,dynamic
"""

import argparse
import fnmatch
import json
import logging
import multiprocessing
import pathlib
import sys
import tempfile
import warnings
import zlib

import numpy as np
import onnx
import onnxruntime as ort
import timm
import torch
import torchvision.models as tv
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import vision_blocks as own
import vision_detectors
import vision_models

CLASSES = 10


def image_net(name, **options):
    return lambda: timm.create_model(name, exportable=True, num_classes=CLASSES, **options)


def tv_net(function, **options):
    return lambda: function(weights=None, num_classes=CLASSES, **options)


def stages(kind, *depths, **options):
    """A ResNet of torchvision with fewer blocks."""
    return lambda: tv.ResNet(kind, list(depths), num_classes=CLASSES, **options)


def mixer(**options):
    return lambda: timm.models.mlp_mixer.MlpMixer(CLASSES, 64, num_blocks=2, embed_dim=96, **options)


BASIC, BOTTLENECK = tv.resnet.BasicBlock, tv.resnet.Bottleneck


# Name: (what makes it, height and width of the image).
ARCHITECTURES = {
    # torchvision
    "resnet": (stages(BASIC, 1, 1, 1, 1), 64),
    "resnet_bottleneck": (stages(BOTTLENECK, 1, 1, 1, 1), 64),
    "resnext": (stages(BOTTLENECK, 1, 1, 1, 1, groups=32, width_per_group=4), 64),
    "mobilenet_v2": (tv_net(tv.mobilenet_v2, width_mult=0.5), 96),
    "mobilenet_v3": (tv_net(tv.mobilenet_v3_small), 96),
    "shufflenet_v2": (tv_net(tv.shufflenet_v2_x0_5), 96),
    "squeezenet": (tv_net(tv.squeezenet1_1), 96),
    "densenet": (lambda: tv.DenseNet(16, (2, 3, 3, 2), 32, num_classes=CLASSES), 64),
    "efficientnet": (image_net("efficientnet_lite0"), 64),
    "efficientnet_b0": (tv_net(tv.efficientnet_b0), 64),
    "googlenet": (tv_net(tv.googlenet, aux_logits=False, init_weights=False), 64),
    "inception_v3": (tv_net(tv.inception_v3, aux_logits=False, init_weights=False), 80),
    "mnasnet": (tv_net(tv.mnasnet0_5), 96),
    "regnet": (tv_net(tv.regnet_y_400mf), 64),
    "convnext": (image_net("convnext_atto", depths=(1, 1, 2, 1)), 64),
    "swin": (lambda: tv.SwinTransformer([4, 4], 32, [1, 2], [2, 4], [4, 4], num_classes=CLASSES), 64),
    "swin_v2": (lambda: tv.SwinTransformer([4, 4], 32, [1, 2], [2, 4], [4, 4], num_classes=CLASSES,
                                           block=tv.swin_transformer.SwinTransformerBlockV2,
                                           downsample_layer=tv.swin_transformer.PatchMergingV2), 64),
    "vit": (lambda: tv.VisionTransformer(64, 16, 2, 3, 96, 192, num_classes=CLASSES), 64),
    "maxvit": (lambda: tv.MaxVit((64, 64), 16, 4, [16, 32], [1, 1], 16, 0.0, num_classes=CLASSES), 64),
    "fcn": (lambda: own.segmentation(tv.segmentation.fcn_resnet50), 64),
    "deeplab": (lambda: own.segmentation(tv.segmentation.deeplabv3_mobilenet_v3_large), 64),
    "lraspp": (lambda: own.segmentation(tv.segmentation.lraspp_mobilenet_v3_large), 64),
    # timm: convolutions
    "ghostnet": (image_net("ghostnet_050"), 96),
    "mixnet": (image_net("mixnet_s"), 64),
    "tinynet": (image_net("tinynet_e"), 96),
    "lcnet": (image_net("lcnet_050"), 96),
    "hardcorenas": (image_net("hardcorenas_a"), 64),
    "repvgg": (image_net("repvgg_a0"), 64),
    "mobileone": (image_net("mobileone_s0"), 64),
    "repghost": (image_net("repghostnet_050"), 96),
    "starnet": (image_net("starnet_s050"), 96),
    "convmixer": (lambda: timm.models.convmixer.ConvMixer(96, 3, 7, 7, num_classes=CLASSES), 64),
    "nfnet": (image_net("nfnet_l0"), 64),
    "hrnet": (image_net("hrnet_w18_small"), 64),
    "dla": (image_net("dla46x_c"), 64),
    "dpn": (image_net("dpn48b"), 64),
    "res2net": (image_net("res2net50_14w_8s", layers=(1, 1, 1, 1)), 64),
    "selecsls": (image_net("selecsls42b"), 64),
    "vovnet": (image_net("ese_vovnet19b_slim_dw"), 64),
    "resnet_d": (image_net("resnet18d"), 64),
    "resnest": (image_net("resnest14d"), 64),
    "skresnet": (image_net("skresnet18"), 64),
    "ecaresnet": (image_net("ecaresnet50t", layers=(1, 1, 1, 1)), 64),
    "csp": (image_net("cspresnet50"), 64),
    "darknet": (image_net("cs3darknet_s"), 64),
    "mobilenet_v4": (image_net("mobilenetv4_conv_small_050"), 96),
    "fbnet_v3": (image_net("fbnetv3_b"), 64),
    "rexnet": (image_net("rexnet_100"), 64),
    "hgnet": (image_net("hgnetv2_b0"), 64),
    "efficientvit": (image_net("efficientvit_b0"), 64),
    "inception_next": (image_net("inception_next_atto", depths=(1, 1, 2, 1)), 64),
    "repvit": (image_net("repvit_m0_9"), 64),
    "fasternet": (image_net("fasternet_t0"), 64),
    "gcresnet": (image_net("gcresnext26ts"), 64),
    # timm: attention and mixtures
    "mobilevit": (image_net("mobilevit_xxs"), 64),
    "mobilevit_v2": (image_net("mobilevitv2_050"), 64),
    "efficientformer": (image_net("efficientformer_l1", depths=(1, 1, 1, 2)), 224),
    "efficientformer_v2": (image_net("efficientformerv2_s0", img_size=128), 128),
    "edgenext": (image_net("edgenext_xx_small"), 64),
    "fastvit": (image_net("fastvit_t8", layers=(1, 1, 1, 1)), 64),
    "levit": (image_net("levit_128s", img_size=128), 128),
    "poolformer": (lambda: timm.models.metaformer.MetaFormer(depths=(1, 1, 1, 1), dims=(32, 64, 96, 128), num_classes=CLASSES), 64),
    "coat": (image_net("coat_lite_tiny", img_size=64), 64),
    "crossvit": (image_net("crossvit_9_240", depth=((1, 1, 0),) * 3), 240),
    "pit": (image_net("pit_ti_224", img_size=96, depth=(1, 1, 1)), 96),
    "cait": (image_net("cait_xxs24_224", img_size=64, depth=2), 64),
    "xcit": (image_net("xcit_nano_12_p16_224", img_size=64, depth=2), 64),
    "beit": (image_net("beit_base_patch16_224", img_size=64, embed_dim=96, depth=2, num_heads=3), 64),
    "deit": (image_net("deit_tiny_distilled_patch16_224", img_size=64, depth=2), 64),
    "mixer": (mixer(), 64),
    "gmlp": (mixer(block_layer=timm.models.mlp_mixer.SpatialGatingBlock, mlp_layer=timm.layers.GatedMlp, mlp_ratio=6), 64),
    "resmlp": (mixer(block_layer=timm.models.mlp_mixer.ResBlock, norm_layer=timm.models.mlp_mixer.Affine, mlp_ratio=4), 64),
    "lambda": (image_net("lambda_resnet26t"), 128),
    "botnet": (image_net("botnet26t_256", img_size=128), 128),
    "davit": (image_net("davit_tiny", depths=(1, 1, 1, 1), embed_dims=(32, 64, 96, 128), num_heads=(1, 2, 3, 4)), 64),
    "mvitv2": (image_net("mvitv2_tiny", img_size=64), 64),
    "nest": (lambda: timm.models.nest.Nest(64, embed_dims=(32, 64, 96), num_heads=(1, 2, 3), depths=(1, 1, 2),
                                      num_classes=CLASSES), 64),
    "sequencer2d": (image_net("sequencer2d_s", layers=(1, 1, 1, 1), img_size=64), 64),
    "tiny_vit": (image_net("tiny_vit_5m_224"), 64),
    "mambaout": (image_net("mambaout_femto", depths=(1, 1, 1, 1)), 64),
    "eva": (image_net("eva02_tiny_patch14_224", img_size=56, depth=2), 56),
    "dinov2": (image_net("vit_small_patch14_reg4_dinov2", img_size=56, depth=2, embed_dim=96, num_heads=3), 56),
    "siglip": (image_net("vit_base_patch16_siglip_224", img_size=64, depth=2, embed_dim=96, num_heads=3), 64),
    "hiera": (image_net("hiera_tiny_224", img_size=64, embed_dim=32, stages=(1, 1, 1, 1)), 64),
    "focalnet": (lambda: timm.models.focalnet.FocalNet(3, CLASSES, embed_dim=32, depths=(1, 1, 1, 1)), 64),
    "pvt_v2": (image_net("pvt_v2_b0"), 64),
    "twins": (image_net("twins_svt_small", img_size=64, depths=(1, 1, 2, 1), embed_dims=(32, 64, 96, 128),
                        num_heads=(1, 2, 3, 4)), 64),
    "gcvit": (image_net("gcvit_xxtiny", img_size=64), 64),
    "convit": (image_net("convit_tiny", img_size=64, depth=3, local_up_to_layer=2), 64),
    "tnt": (image_net("tnt_s_patch16_224", img_size=64, depth=2), 64),
    "visformer": (image_net("visformer_tiny", img_size=64, depth=(1, 1, 1)), 64),
    "shvit": (image_net("shvit_s1"), 64),
    "swiftformer": (image_net("swiftformer_xs"), 64),
}
ARCHITECTURES |= vision_detectors.NETWORKS | vision_models.NETWORKS


class Noise(CalibrationDataReader):
    def __init__(self, shape, count, seed):
        rng = np.random.default_rng(seed)
        self.feeds = iter([{"x": rng.normal(0, 1, shape).astype(np.float32)} for _ in range(count)])

    def get_next(self):
        return next(self.feeds, None)


@torch.no_grad()
def settle(net, shape):
    """Replaces parameters that are one value everywhere, and measures the statistics of BatchNormalization."""
    for name, parameter in net.named_parameters():
        if parameter.numel() > 1 and bool((parameter == parameter.flatten()[0]).all()):
            if parameter.flatten()[0].abs() < 1e-3 and ("gamma" in name or "scale" in name or "ls" in name):
                parameter.uniform_(0.2, 0.8)
            else:
                parameter += torch.randn_like(parameter) * 0.1
    norms = [one for one in net.modules() if isinstance(one, torch.nn.modules.batchnorm._BatchNorm)]
    for one in norms:
        one.reset_running_stats()
        one.momentum = None  # the mean of all batches
        one.train()
    for _ in range(2):
        net(torch.randn(4, *shape[1:]))
    net.eval()


def export(name, make, size, seed, path, opset, dynamo):
    torch.manual_seed(seed)
    net = make().eval()
    shape = (1, getattr(net, "planes", 3), *(size if isinstance(size, tuple) else (size, size)))
    settle(net, shape)
    net = timm.utils.reparameterize_model(net)
    example = (torch.randn(shape),)
    torch.onnx.export(net, example, str(path), input_names=["x"], opset_version=opset, dynamo=dynamo,
                      **({"external_data": False} if dynamo else {}))
    return shape


def quantized(form, prepared, target, shape, seed):
    if form == "dynamic":
        quantize_dynamic(prepared, target, op_types_to_quantize=["Conv", "MatMul", "Gemm", "LSTM"],
                         weight_type=QuantType.QUInt8)
        return
    acts = QuantType.QInt8 if form == "qdq_s8s8" else QuantType.QUInt8
    quantize_static(prepared, target, Noise(shape, 3, seed), activation_type=acts, weight_type=QuantType.QInt8,
                    quant_format=QuantFormat.QOperator if form == "qop" else QuantFormat.QDQ,
                    per_channel=form == "qdq_s8s8")


def outputs_of(path, feed, level):
    options = ort.SessionOptions()
    options.graph_optimization_level, options.intra_op_num_threads, options.log_severity_level = level, 1, 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feed)


def record(folder, shape, seed, info):
    data = folder / "test_data_set_0"
    (data / "disabled").mkdir(parents=True, exist_ok=True)
    x = np.random.default_rng(seed + 1).normal(0, 1, shape).astype(np.float32)
    onnx.save_tensor(onnx.numpy_helper.from_array(x, "x"), data / "input_0.pb")
    levels = ort.GraphOptimizationLevel
    for where, level in ((data / "disabled", levels.ORT_DISABLE_ALL), (data, levels.ORT_ENABLE_ALL)):
        for i, value in enumerate(outputs_of(folder / "model.onnx", {"x": x}, level)):
            onnx.save_tensor(onnx.numpy_helper.from_array(value), where / f"output_{i}.pb")
    (folder / "info.json").write_text(json.dumps(info), encoding="utf-8")


def write(name, options):
    """All forms of one architecture."""
    make, size = ARCHITECTURES[name]
    seed = zlib.crc32(name.encode())
    opset = options.opset or 13 + seed % 6
    with tempfile.TemporaryDirectory() as scratch:
        path, prepared = pathlib.Path(scratch) / "float.onnx", pathlib.Path(scratch) / "prepared.onnx"
        shape = export(name, make, size, seed, path, opset, options.dynamo)
        try:
            quant_pre_process(path, prepared)
        except Exception:
            quant_pre_process(path, prepared, skip_symbolic_shape=True)
        for form in options.forms.split(","):
            folder = options.folder / f"{name}{'_dynamo' if options.dynamo else ''}_{form}"
            folder.mkdir(parents=True, exist_ok=True)
            target = folder / "model.onnx"
            try:
                if form == "float":
                    target.write_bytes(path.read_bytes())
                else:
                    quantized(form, prepared, target, shape, seed)
                record(folder, shape, seed, {"kind": form})
            except Exception as error:
                print(f"{folder.name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                (folder / "failed").write_text(str(error), encoding="utf-8")


def run_one(name, options):
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    try:
        write(name, options)
        print(f"{name}: written", flush=True)
    except Exception as error:
        print(f"{name}: not exported: {type(error).__name__}: {str(error)[:300]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="*", metavar="PATTERN,...", help="names of architectures")
    parser.add_argument("--forms", default="float,qdq_u8s8,qdq_s8s8,qop,dynamic")
    parser.add_argument("--opset", type=int, help="instead of one of 13 to 18 by the name")
    parser.add_argument("--dynamo", action="store_true", help="export by torch.export instead of TorchScript")
    options = parser.parse_args()
    patterns = options.only.split(",")
    for name in ARCHITECTURES:
        if any(fnmatch.fnmatch(name, one) for one in patterns):  # a process each: exporters keep state
            child = multiprocessing.get_context("fork").Process(target=run_one, args=(name, options))
            child.start()
            child.join()
            if child.exitcode:
                print(f"{name}: the exporter ended with {child.exitcode}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
