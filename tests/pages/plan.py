"""What check_pages.py cannot know from the pages: files that a page takes for granted, commands that cannot run here, with
the reason, words that shorten one, and exit codes that are not 0. A reason that says where else a command runs names the file that runs it, and words
that are in it; a command that is no longer on its page is a fault, so nothing stays here without need."""

import dataclasses
import pathlib

from fixtures import copy, float_and_samples, shell, small, words_of_any_number

LEAST_COMMANDS = 60  # of all pages together

# Before the Python of the pages.
PYTHON_BEFORE = """\
import numpy, onnx
pixels = numpy.zeros((1, 1, 8, 8), numpy.float32)
array = pixels
"""


@dataclasses.dataclass
class Reason:
    text: str
    file: str = ""  # runs the command elsewhere
    words: str = ""  # are in that file

    def fault(self, root: pathlib.Path) -> str:
        """What of it is not true any more; empty if all is."""
        if self.file and self.words not in (root / self.file).read_text():
            return f"{self.file} has no {self.words!r}"
        return ""


def ci(words):
    return Reason("builds or tests the whole project", ".ci/run", words)


def journey(name):
    return Reason("a journey of tools/journeys", "tools/journeys", f"def {name}(")


ATTACK = Reason("takes many minutes; ctest runs a shorter one", "cmake/tests.cmake", "tools/attack --models 200")
CONSUMER = Reason("needs a project with goldens, which a test makes", "tests/product/cmake_package_test.cc", "etch_golden_net_scalar")
SCALE = Reason("needs ccache and distcc, which no test has, and takes minutes; the tool runs all of it", "tools/scale-builds",
               "-DCMAKE_CXX_COMPILER_LAUNCHER=")
TUTORIAL = Reason("a test runs the page's own shell with this path", "tests/product/tutorial_test.cc", "export PATH=")
TRAINING = Reason("downloads packages to train a network again, which is in the project already")

FIXTURES = {
    "README.md": [float_and_samples, small("model.onnx")],
    "docs/budgets.md": [small("model.onnx"), copy("../shared/models/nets/mlperftiny_ic_resnet8_qdq/model.onnx", "resnet8.onnx")],
    "docs/ci.md": [small("models/digits.onnx")],
    "docs/cli.md": [small("model.onnx")],
    "docs/dynamic-sizes.md": [
        words_of_any_number,
        shell("etch record model.onnx --inputs random --count 1 --dim seq=5"),
    ],
    "docs/evidence.md": [small("model.onnx")],
    "docs/firmware.md": [
        shell("etch compile examples/digits/model.onnx -o net --name digits --target cortex-m4 --weights binary"),
        shell("cp net/digits_weights.bin ."),
    ],
    "docs/golden.md": [small("net.onnx")],
    "docs/proof.md": [small("model.onnx")],
    "docs/python.md": [small("model.onnx"), float_and_samples],
    "docs/requantization.md": [small("model.onnx")],
    "docs/scale.md": [
        small("net.onnx"),
        shell("etch golden record net.onnx --targets cortex-m4,cortex-m55 --samples 1 -o goldens/net"),
    ],
    "docs/targets.md": [small("model.onnx")],
    "docs/threads.md": [small("model.onnx")],
    "docs/tuning.md": [small("model.onnx")],
    "docs/tutorial-cortex-m4.md": [float_and_samples, small("net.onnx")],
    "examples/mlperf-tiny/README.md": [small("net.onnx")],
    "docs/unrolling.md": [copy("examples/digits/model.onnx", "model.onnx")],
}

NOT_RUN = {
    "README.md": {
        "pip install '.[quantize]'": journey("install"),
        "python -c 'import torch, my; torch.onnx.export(my.Net().eval(), (torch.zeros(1, 1, 8, 8),), \"float.onnx\")'": Reason(
            "PyTorch is a download of a gigabyte; tools/exporters calls this function", "tools/exporter_cases.py",
            "torch.onnx.export("),
        "tools/demo": ci("tools/demo"),
        "tools/test": ci("tools/test"),
    },
    "docs/attack.md": {
        "cmake --build build/release --target etch_attack_judge etch": ci("tools/demo"),
        "tools/attack --models 1000 --seed 3": ATTACK,
        "tools/attack --models 500 --compiled 0.7 --emulated 0.3": ATTACK,
        "tools/attack --models 20000 --seed 5 --jobs FILE": ATTACK,
    },
    "docs/cli.md": {
        "etch tune model.onnx -o model.tune": Reason("takes up to a minute; on the page about it, it runs", "docs/tuning.md",
                                                     "$ etch tune model.onnx -o model.tune"),
    },
    "docs/python.md": {
        "pip install .": journey("install"),
        "pip install '.[quantize]'": journey("install"),
    },
    "docs/scale.md": {
        "ctest -j8 -R etch_golden_": CONSUMER,
        "ctest -R etch_golden_ -I 2,,4": CONSUMER,
        "cmake -S net -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache && cmake --build build":
            SCALE,
        "distccd --daemon --listen 127.0.0.1 --port 3711 --allow 127.0.0.1 --enable-tcp-insecure": SCALE,
        "cmake -S net -B build-distcc -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=distcc": SCALE,
        'DISTCC_HOSTS="127.0.0.1:3711/1 127.0.0.1:3712/1" cmake --build build-distcc -j2': SCALE,
        "tools/scale-builds": SCALE,
    },
    "docs/tutorial-cortex-m4.md": {
        "tools/setup demo && tools/setup --cross": ci("tools/setup --cross"),
        "cmake --preset release && cmake --build --preset release --target etch": ci("tools/demo"),
        "export PATH=$PWD/build/release/bin:$PATH": TUTORIAL,
        "pip install '.[quantize]'": journey("install"),
        **{first: TUTORIAL for first in (
            "etch check examples/digits/model.onnx --target cortex-m4",
            "etch bench examples/digits/model.onnx --target cortex-m4",
            "mkdir -p build/tutorial",
            "cat >build/tutorial/main.cc <<'EOF'",
            "arm-none-eabi-g++ -std=c++17 -O2 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 \\",
            "qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none \\",
            "etch compile examples/digits/model.onnx --target cortex-m4 --name digits -o build/tutorial/small --force "
            "--optimize size",
        )},
    },
    "examples/mlperf-tiny/README.md": {
        "examples/mlperf-tiny/run --model pretrainedResnet_quant.onnx --files DIR --labels y_labels.csv --input MINUS_128":
            Reason("the benchmark's network and data are the reader's"),
    },
    "examples/digits/README.md": {
        "python3 -m venv build/venv && build/venv/bin/pip install -r examples/digits/requirements.txt": TRAINING,
        "build/venv/bin/python examples/digits/train.py": TRAINING,
    },
}

# What a command is given besides, where it would take longer than what it shows is worth here.
MORE_WORDS = {
    "README.md": {"etch fit int8/model.onnx --ram 256k --flash 1M": "--estimate"},  # docs/cli.md has it without
    "docs/tuning.md": {"etch tune model.onnx -o model.tune": "--seconds 5"},
}

EXIT_CODES = {
    "docs/budgets.md": {"etch compile resnet8.onnx -o out --target cortex-m4 --arena-limit 16k": 2},
    "docs/cli.md": {"etch inspect model.onnx --profile sonnx": 2},  # a pool, which the profile has not
}
