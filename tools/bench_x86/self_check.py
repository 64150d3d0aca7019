"""Tests of what in this tool is arithmetic or text: tools/bench-x86 --self-check."""

import pathlib
import tempfile
import types
import unittest

import etch_runner
import files
import gate
import goals
import layers
import network_bench
import numpy as np
import summary
import table


def figure(median: float, clean: int = 100) -> gate.Figure:
    return gate.Figure(median, median, median, clean, 100)


def row(name: str, **medians: float) -> dict:
    return {"name": name, "macs": 1_000_000, "peak_gmacs": 200.0, "faults": [], "signed": False,
            "figures": {1: {key: figure(value) for key, value in medians.items()}}}


class Layers(unittest.TestCase):
    def test_there_are_42_of_unique_names(self):
        self.assertEqual(len({layer.name for layer in layers.UNSIGNED}), 42)
        self.assertLessEqual(set(layers.QUICK) | set(layers.ALSO_SIGNED), {layer.name for layer in layers.UNSIGNED})

    def test_macs_and_padding(self):
        by_name = {layer.name: layer for layer in layers.UNSIGNED}
        self.assertEqual(by_name["R50 3x3 64 @56"].macs, 115_605_504)
        self.assertEqual(by_name["R50 1x1s2 256-512 @56"].output_size, (28, 28))
        self.assertEqual(by_name["MB dw3x3 512 @14"].macs, 903_168)
        self.assertEqual(by_name["DS 10x4s2 1-64"].pads, [4, 1, 5, 1])
        self.assertEqual(by_name["DS 10x4s2 1-64"].output_size, (25, 5))


class Gating(unittest.TestCase):
    def samples(self, *times: float, loop: float = 100) -> list[gate.Measured]:
        return [gate.Measured(time, loop, loop, 0) for time in times]

    def test_median_over_rounds_of_clean_samples(self):
        rounds = [self.samples(1e3, 2e3, 3e3), self.samples(4e3, 5e3, 6e3) + self.samples(9e9, loop=200)]
        found = gate.figure_of(rounds, lambda one: one.dot <= 105)
        self.assertEqual((found.median, found.least, found.most, found.clean, found.samples), (3.5, 2, 5, 6, 7))
        self.assertTrue(found.doubtful)

    def test_without_clean_samples_all_count_and_the_figure_is_doubtful(self):
        found = gate.figure_of([self.samples(1e3, 2e3, 3e3)], lambda one: False)
        self.assertEqual((found.median, found.clean, found.doubtful), (2, 0, True))

    def test_full_speed_is_the_fastest_hundredth_of_a_row_near_the_best_row(self):
        speed = gate.Speed()
        speed.times = [50.0] + [100.0] * 199
        speed.settle()
        self.assertEqual([speed.is_full(time) for time in (104, 106)], [True, False])
        speed.times = [108.0] * 200
        speed.settle()
        self.assertTrue(speed.is_full(113))
        speed.times = [190.0] * 200
        speed.settle()
        self.assertFalse(speed.is_full(190))

    def test_cost_of_one_more_node(self):
        self.assertEqual(figure(26).minus(figure(10), 8).median, 2)
        self.assertEqual(figure(9).minus(figure(10), 8).median, 0)

    def test_widest_dot_product_is_the_reference(self):
        self.assertIn("zmm", gate.loop_of({"avx512f", "avx512_vnni", "avx_vnni"})[0])
        self.assertIn("ymm", gate.loop_of({"avx_vnni"})[0])
        self.assertIn("no VNNI", gate.loop_of({"avx2"})[0])


class Summary(unittest.TestCase):
    def test_peers_count_with_their_best(self):
        figures = row("a", etch=1, ort_nhwc=9, ort_nchw=8, ort_node=3, ov=5, ov_node=4, dnnl=2,
                      dnnl_zero_points=6)["figures"][1]
        self.assertEqual(summary.ort_time(figures), 3)
        self.assertEqual(summary.ov_time(figures), 4)
        self.assertEqual(summary.intel_time(figures), 2)

    def test_a_node_that_costs_nothing_is_not_taken(self):
        self.assertEqual(summary.ort_time({"ort_nhwc": figure(3), "ort_node": figure(0)}), 3)

    def test_means_and_ceilings(self):
        ort, intel = summary.ratios_of([row("slow", etch=2, ort_nhwc=2, ov=2), row("fast", etch=1, ort_nhwc=4, ov=4)])
        self.assertAlmostEqual(ort.geometric_mean, 2)
        self.assertAlmostEqual(intel.geometric_mean, 2)
        self.assertIn("all of the peak would be 0.40", ort.ceiling("slow"))

    def test_share_of_peak(self):
        self.assertAlmostEqual(summary.share_of_peak(row("a", etch=10)), 50)
        self.assertIsNone(summary.share_of_peak(row("a", ov=10)))


class Goals(unittest.TestCase):
    def values(self, layer_rows=(), network_rows=()) -> dict:
        found = goals.results_of({"layers": list(layer_rows), "networks": list(network_rows)})
        return {one.name: (round(one.value, 3), one.met) for one in found}

    def test_layers_have_ratios_shares_and_rates(self):
        deep = row("deep", etch=10, ort_nhwc=10.5) | {"shape": {"channels": 64, "kernel": 3, "stride": 1,
                                                                "depthwise": False}}
        wise = row("wise", etch=10) | {"shape": {"channels": 8, "kernel": 3, "stride": 1, "depthwise": True}}
        self.assertEqual(self.values([deep, wise]), {
            "deep against ONNX Runtime": (1.05, False), "geometric mean of layers against ONNX Runtime": (1.05, False),
            "deep, percent of the peak": (50, False), "wise, GMAC/s": (100, True)})

    def test_int8_is_compared_with_uint8(self):
        signed = row("a s8", etch=2.2) | {"signed": True}
        self.assertEqual(self.values([row("a", etch=2), signed]), {"a, time with int8 to uint8": (1.1, False)})

    def test_networks_have_goals_of_their_own(self):
        net = row("MobileNetV2 1.0 224", etch=2, ort=5, ov=4) | {"text_bytes": 1000, "build_s": 31}
        net["figures"][2] = {"etch": figure(1)}
        name = net["name"]
        self.assertEqual(self.values(network_rows=[net]), {
            f"{name} against ONNX Runtime": (2.5, False), f"{name} against OpenVINO": (2, True),
            f"{name}, two cores to one": (2, True), f"{name}, kB of code": (1, True),
            f"{name}, seconds to build": (31, False)})

    def test_missed_goals_come_first(self):
        lines = goals.lines_of({"layers": [], "networks": [row("any", etch=2, ort=3), row("other", etch=3, ort=2)]})
        self.assertEqual([line.split()[0] for line in lines], ["1", "MISS", "met"])


class Texts(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual([table.short(one) for one in (None, 0.814, 12.34, 123.4, 1234)],
                         ["-", "0.81", "12.3", "123", "1,234"])

    def test_columns_without_figures_are_dropped(self):
        self.assertEqual(table.without_empty_columns([["a", "b", "c"], ["1", "-", "2"]]), [["a", "c"], ["1", "2"]])

    def test_too_few_clean_samples_are_told(self):
        one = row("a", etch=1)
        one["figures"][1]["ov"] = figure(1, clean=3)
        self.assertIn("FEW: ov 3/100 clean", table.notes_of(one, one["figures"][1]))
        self.assertEqual(len(summary.doubtful(one)), 1)

    def test_commands_are_shown_without_files(self):
        self.assertEqual(files.command_of("tools/bench-x86 --quick --json /x/y.json --target avx2 --svg a.svg"),
                         "tools/bench-x86 --quick --target avx2")

    def test_json_is_read_as_it_was_written(self):
        result = {"machine": {}, "layers": [row("a", etch=1.5, ov=2)], "networks": []}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            files.write(result, types.SimpleNamespace(json=path, markdown=None, svg=None), [1])
            self.assertEqual(files.read(path), result)

    @staticmethod
    def driver(schedule: str, report: dict, **request) -> str:
        return etch_runner.driver_text(schedule, report, etch_runner.Request(b"", "scalar", **request))

    def test_a_network_with_loops_has_no_layer(self):
        schedule = "void run() {\n  if (x) __builtin_trap();\n  for (int64_t trip = 0;;) {\n    n0_add(x);\n  }\n}\n"
        report = {"inputs": [], "outputs": [], "steps": [{"name": "n0_add", "kind": "add"}]}
        driver = self.driver(schedule, report, is_layer=False)
        self.assertIn("net::run(arena);", driver.split("void whole")[1].split("void layer")[0])
        self.assertNotIn("n0_add", driver.split("void layer")[1])

    def test_a_layer_is_run_without_the_steps_that_carry_its_data(self):
        schedule = ("void run() {\n  if (x) __builtin_trap();\n\n  // copy (it)\n"
                    "  n0_copy(x, at<uint8_t>(arena, 4));\n\n"
                    "  n0_conv(at<uint8_t>(arena, 4),\n      y);\n}\n}  // namespace net\n")
        self.assertEqual(etch_runner.statements_of(schedule),
                         [("n0_copy", "n0_copy(x, at<uint8_t>(arena, 4));"),
                          ("n0_conv", "n0_conv(at<uint8_t>(arena, 4), y);")])
        report = {"inputs": [{"identifier": "input0", "parameter": "x"}],
                  "outputs": [{"identifier": "output0", "parameter": "y"}],
                  "steps": [{"name": "n0_copy", "kind": "copy"}, {"name": "n0_conv", "kind": "conv"}]}
        layer = self.driver(schedule, report, keep_copy=False).split("void layer")[1]
        self.assertNotIn("n0_copy", layer)
        self.assertIn("n0_conv", layer)
        self.assertIn("n0_copy", self.driver(schedule, report).split("void layer")[1])

    def test_a_schedule_of_several_threads_runs_on_a_pool(self):
        schedule = ("void run() {\n  if (x) __builtin_trap();\n  Call call{x, arena};\n"
                    "  run_shares(threads, share_of_n0_copy, call);\n"
                    "  run_shares(threads, share_of_n0_conv, call);\n}\n}  // namespace net\n")
        report = {"inputs": [{"identifier": "input0", "parameter": "x"}],
                  "outputs": [{"identifier": "output0", "parameter": "y"}],
                  "steps": [{"name": "n0_copy", "kind": "copy"}, {"name": "n0_conv", "kind": "conv"}]}
        driver = self.driver(schedule, report, keep_copy=False, threads=2)
        self.assertIn("arena, threads);", driver)
        layer = driver.split("void layer")[1]
        self.assertNotIn("share_of_n0_copy", layer)
        self.assertIn("  Call call{x, arena};\n  run_shares(threads, share_of_n0_conv, call);", layer)


class Outputs(unittest.TestCase):
    def verdict(self, mine, theirs, dtype, explained=False) -> str:
        return network_bench.compare([np.array(mine, dtype)], [np.array(theirs, dtype)], explained)[0]

    def test_integers_are_equal_or_wrong(self):
        self.assertEqual(self.verdict([1, 2], [1, 2], np.uint8), "exact")
        self.assertEqual(self.verdict([1, 2], [1, 3], np.uint8), "FAIL")
        self.assertEqual(self.verdict([1, 2], [1, 3], np.uint8, explained=True), "explained")

    def test_floats_may_be_close(self):
        self.assertEqual(self.verdict([1, 100.0005], [1, 100], np.float32), "close")
        self.assertEqual(self.verdict([1, 100.005], [1, 100], np.float32), "FAIL")
        self.assertEqual(self.verdict([np.nan], [1], np.float32), "FAIL")


def main() -> int:
    suite = unittest.defaultTestLoader.loadTestsFromModule(__import__(__name__))
    return 0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1
