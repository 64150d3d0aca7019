// See control_cases.h.
#include "tests/support/control_cases.h"

#include <utility>

#include "compiler/base/text.h"
#include "tests/support/tensors.h"

namespace etch {

namespace {
constexpr DType kF = DType::kF32;

Tensor truth(bool value) {
  Tensor out(DType::kBool, {});
  out.as<std::uint8_t>()[0] = value ? 1 : 0;
  return out;
}

// A body of Loop with the names that it has to have: trip, go.
ModelBuilder body() {
  ModelBuilder out;
  out.input("trip", DType::kS64, {}).input("go", DType::kBool, {});
  return out;
}

// Floats around 0, of no pattern.
Tensor numbers(std::uint64_t seed, Shape shape) {
  Dice dice(seed);
  Tensor out(kF, std::move(shape));
  for (float& value : out.as<float>()) value = static_cast<float>(dice.between(-60, 60)) / 16;
  return out;
}

Case made(std::string name, const ModelBuilder& model, std::vector<Tensor> inputs) {
  return {std::move(name), model.bytes(), std::move(inputs)};
}

// A cell with a state, of which each trip picks its own row of x and hands out a product.
ModelBuilder cell(const std::string& row) {
  ModelBuilder in = body();
  in.input("at", DType::kS64, {}).input("h", kF, {1, 4});
  in.initializer("w", numbers(1, {3, 4})).initializer("u", numbers(2, {4, 4}));
  in.initializer("v", numbers(3, {4, 2})).initializer("one", s64({}, {1}));
  in.node("Gather", {"x", row}, {"r"}, {{"axis", std::int64_t{1}}});
  in.node("MatMul", {"r", "w"}, {"a"}).node("MatMul", {"h", "u"}, {"b"});
  in.node("Add", {"a", "b"}, {"c"}).node("Tanh", {"c"}, {"h2"});
  in.node("MatMul", {"h2", "v"}, {"slice"}).node("Add", {"at", "one"}, {"at2"});
  return in;
}

Case counted_cell(bool by_condition) {
  ModelBuilder model;
  model.input("x", kF, {1, 5, 3}).input("h0", kF, {1, 4});
  model.initializer("n", s64({}, {by_condition ? INT64_MAX : 5}));
  model.initializer("yes", truth(true)).initializer("zero", s64({}, {0}));
  ModelBuilder in = cell("at");
  if (by_condition) {
    in.initializer("end", s64({}, {5})).node("Less", {"at2", "end"}, {"go2"});
  } else {
    in.node("Identity", {"go"}, {"go2"});
  }
  in.output("go2").output("at2").output("h2").output("slice");
  model.node("Loop", {"n", "yes", "zero", "h0"}, {"count", "h", "y"}).subgraph("body", in);
  model.output("count").output("h").output("y");
  return made(by_condition ? "until its counter says so" : "five trips", model,
              {numbers(4, {1, 5, 3}), numbers(5, {1, 4})});
}

// Stops once the sum of the state is large: at run time, after `limit` allows it.
Case stopping_loop(int limit, bool starts) {
  ModelBuilder model;
  model.input("x", kF, {6}).input("start", DType::kBool, {1});
  model.initializer("n", s64({1}, {9})).initializer("limit", f32({}, {static_cast<float>(limit)}));
  ModelBuilder in = body();
  in.input("h", kF, {6}).node("Add", {"h", "x"}, {"h2"});
  in.node("ReduceMax", {"h2"}, {"most"}, {{"keepdims", std::int64_t{0}}});
  in.node("Less", {"most", "limit"}, {"go2"}).output("go2").output("h2");
  model.node("Loop", {"n", "start", "x"}, {"h"}).subgraph("body", in);
  model.node("Neg", {"h"}, {"y"}).output("y");
  Tensor start(DType::kBool, {1});
  start.as<std::uint8_t>()[0] = starts ? 1 : 0;
  return made(cat("stops at ", limit, starts ? "" : " without a trip"), model,
              {f32({6}, {1, 2, -3, 0.5F, 4, 1}), start});
}

// The condition is computed before the loop, and each trip hands it on as it is: it has to remain
// where it is as long as the loop runs. The bodies' small tensors would fit into its place.
Case unchanged_condition(bool starts) {
  ModelBuilder model;
  model.input("x", kF, {40, 3}).initializer("n", s64({}, {3})).initializer("zero", f32({}, {0}));
  model.node("ReduceSum", {"x"}, {"total"}, {{"keepdims", std::int64_t{0}}});
  model.node("Less", {"total", "zero"}, {"start"});
  ModelBuilder in = body();
  in.input("h", kF, {})
      .node("Identity", {"go"}, {"go2"})
      .node("Cast", {"trip"}, {"i"}, {{"to", std::int64_t{1}}});
  in.node("Add", {"x", "i"}, {"moved"});
  in.node("ReduceSum", {"moved"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  in.node("Add", {"h", "sum"}, {"h2"}).output("go2").output("h2");
  model.node("Loop", {"n", "start", "zero"}, {"y"}).subgraph("body", in).output("y");
  Tensor x(kF, {40, 3});
  float at = starts ? -200.0F : 3;
  for (float& each : x.as<float>()) each = ++at;
  return made(cat("an unchanged condition", starts ? "" : " that is false"), model, {x});
}

// "while the largest is below `limit` and i < 5": nothing bounds the trips but the second part. As
// And, or as TorchScript's exporter writes it.
Case while_both(int limit, bool by_if) {
  ModelBuilder model;
  model.input("x", kF, {6})
      .initializer("n", s64({}, {INT64_MAX}))
      .initializer("zero", s64({}, {0}));
  model.initializer("limit", f32({}, {static_cast<float>(limit)}));
  model.node("ReduceMax", {"x"}, {"largest"}, {{"keepdims", std::int64_t{0}}});
  model.node("Less", {"largest", "limit"}, {"start"});
  ModelBuilder in = body();
  in.input("h", kF, {6}).input("i", DType::kS64, {});
  in.initializer("one", s64({}, {1})).initializer("five", s64({}, {5}));
  in.node("Add", {"h", "x"}, {"h2"}).node("Add", {"i", "one"}, {"i2"});
  in.node("ReduceMax", {"h2"}, {"most"}, {{"keepdims", std::int64_t{0}}});
  in.node("Less", {"most", "limit"}, {"small"});
  ModelBuilder both, otherwise;
  if (by_if) {
    both.node("Less", {"i2", "five"}, {"few"}).output("few");
    otherwise.node("Identity", {"small"}, {"no"}).output("no");
    in.node("If", {"small"}, {"go2"}).subgraph("then_branch", both);
    in.subgraph("else_branch", otherwise);
  } else {
    in.node("Less", {"i2", "five"}, {"few"}).node("And", {"few", "small"}, {"go2"});
  }
  in.output("go2").output("h2").output("i2");
  model.node("Loop", {"n", "start", "x", "zero"}, {"y", "trips"}).subgraph("body", in);
  model.output("y").output("trips");
  return made(cat("while the largest is below ", limit, by_if ? " by If" : ""), model,
              {f32({6}, {1, 2, -3, 0.5F, 4, 1})});
}

// Three values that change places, one of them transposed: nothing may be overwritten too early.
Case rotating_loop() {
  ModelBuilder model;
  model.input("a", kF, {3, 3}).input("b", kF, {3, 3}).input("q", DType::kS8, {3, 3});
  model.initializer("n", s64({}, {4})).initializer("yes", truth(true));
  ModelBuilder in = body();
  in.input("p", kF, {3, 3}).input("r", kF, {3, 3}).input("s", DType::kS8, {3, 3});
  in.node("Transpose", {"r"}, {"p2"}, {{"perm", Ints{1, 0}}});
  in.node("Identity", {"p"}, {"r2"}).node("Transpose", {"s"}, {"s2"}, {{"perm", Ints{1, 0}}});
  in.node("Identity", {"go"}, {"go2"}).node("Mul", {"p", "b"}, {"slice"});
  in.output("go2").output("p2").output("r2").output("s2").output("slice").output("s");
  model.node("Loop", {"n", "yes", "a", "b", "q"}, {"y0", "y1", "y2", "y3", "y4"});
  model.subgraph("body", in);
  for (const char* name : {"y0", "y1", "y2", "y3", "y4"}) model.output(name);
  Dice dice(7);
  return made("values that change places", model,
              {numbers(6, {3, 3}), numbers(7, {3, 3}), random_bytes(dice, DType::kS8, {3, 3})});
}

// A loop that carries and hands out tensors without elements besides others, as the cache of a
// decoder is before its first step, and in it a loop that makes no trip.
Case empty_values(int trips) {
  ModelBuilder model;
  model.input("x", kF, {2, 3}).initializer("n", s64({}, {trips})).initializer("none", s64({}, {0}));
  model.initializer("e0", Tensor(kF, {0, 3})).initializer("yes", truth(true));
  ModelBuilder inner;
  inner.input("j", DType::kS64, {}).input("go_on", DType::kBool, {});
  inner.input("u", kF, {0, 3}).input("t", kF, {2, 3});
  // Other shapes: no matter.
  inner.node("Concat", {"u", "t"}, {"u2"}, {{"axis", std::int64_t{0}}});
  inner.node("Concat", {"t", "t"}, {"t2"}, {{"axis", std::int64_t{0}}});
  inner.node("Identity", {"go_on"}, {"go3"});
  inner.output("go3").output("u2").output("t2").output("t2");
  ModelBuilder in = body();
  in.input("e", kF, {0, 3}).input("h", kF, {2, 3});
  in.node("Loop", {"none", "", "e", "h"}, {"e1", "h1", "hs"}).subgraph("body", inner);
  in.node("Concat", {"h1", "e1"}, {"h2"}, {{"axis", std::int64_t{0}}}).node("Neg", {"e"}, {"e2"});
  in.node("Add", {"h2", "x"}, {"h3"}).node("Identity", {"go"}, {"go2"});
  in.output("go2").output("e2").output("h3").output("e2").output("hs").output("h3");
  model.node("Loop", {"n", "yes", "e0", "x"}, {"e_end", "h_end", "es", "hss", "h_all"});
  model.subgraph("body", in);
  for (const char* name : {"e_end", "h_end", "es", "hss", "h_all"}) model.output(name);
  return made(cat("values without elements in ", trips, " trips"), model, {numbers(24, {2, 3})});
}

// An If one of whose results has no elements.
Case empty_result(bool first) {
  ModelBuilder model;
  model.input("x", kF, {2, 3}).input("c", DType::kBool, {}).initializer("e", Tensor(kF, {0, 3}));
  ModelBuilder in_then, in_else;
  in_then.node("Neg", {"x"}, {"a"}).node("Neg", {"e"}, {"a2"}).output("a2").output("a");
  in_else.node("Abs", {"x"}, {"b"}).node("Abs", {"e"}, {"b2"}).output("b2").output("b");
  model.node("If", {"c"}, {"z", "y"}).subgraph("then_branch", in_then);
  model.subgraph("else_branch", in_else).output("y").output("z");
  return made(cat("a result without elements ", first), model, {numbers(25, {2, 3}), truth(first)});
}

// Loops in a loop: what the inner one carries begins anew in every trip of the outer.
Case nested_loops() {
  ModelBuilder model;
  model.input("x", kF, {2, 3}).initializer("yes", truth(true));
  model.initializer("three", s64({}, {3})).initializer("four", s64({}, {4}));
  ModelBuilder inner;
  inner.input("j", DType::kS64, {}).input("go_on", DType::kBool, {}).input("t", kF, {2, 3});
  inner.node("Sub", {"t", "h"}, {"t1"}).node("Mul", {"t1", "k"}, {"t2"});
  inner.node("Identity", {"go_on"}, {"go3"}).output("go3").output("t2").output("t1");
  ModelBuilder outer = body();
  outer.input("h", kF, {2, 3}).initializer("k", f32({}, {0.5F}));
  outer.node("Cast", {"trip"}, {"number"}, {{"to", std::int64_t{1}}});
  outer.node("Add", {"x", "number"}, {"first"});
  outer.node("Loop", {"three", "yes", "first"}, {"t_end", "ts"}).subgraph("body", inner);
  outer.node("Add", {"h", "t_end"}, {"h2"}).node("Identity", {"go"}, {"go2"});
  outer.output("go2").output("h2").output("ts");
  model.node("Loop", {"four", "yes", "x"}, {"h_end", "all"}).subgraph("body", outer);
  model.output("h_end").output("all");
  return made("loops in a loop", model, {numbers(8, {2, 3})});
}

// An inner loop that starts from nothing of the outer one, and only reads what that carries.
Case inner_loop_of_its_own() {
  ModelBuilder model;
  model.input("x", kF, {4}).initializer("three", s64({}, {3})).initializer("two", s64({}, {2}));
  ModelBuilder inner;
  inner.input("j", DType::kS64, {}).input("on", DType::kBool, {});
  inner.node("Add", {"h", "x"}, {"sum"}).node("Identity", {"on"}, {"on2"});
  inner.output("on2").output("sum");
  ModelBuilder outer = body();
  outer.input("h", kF, {4}).node("Loop", {"two", ""}, {"rows"}).subgraph("body", inner);
  outer.node("Mul", {"h", "x"}, {"h2"}).node("Identity", {"go"}, {"go2"});
  outer.output("go2").output("h2").output("rows");
  model.node("Loop", {"three", "", "x"}, {"y", "all"}).subgraph("body", outer);
  model.output("y").output("all");
  return made("a loop of its own in a loop", model, {numbers(8, {4})});
}

Case scan(Ints axes, Ints from_end, Ints out_axes, Ints out_from_end) {
  const auto at = [](std::int64_t axis) { return axis < 0 ? axis + 3 : axis; };
  std::vector<Dim> shapes[2];
  for (int k = 0; k < 2; ++k) {
    shapes[k] = {2, 3};
    shapes[k].insert(shapes[k].begin() + at(axes[static_cast<std::size_t>(k)]), 4);
  }
  ModelBuilder model;
  model.input("h0", kF, {2, 3}).input("x", kF, shapes[0]).input("u", kF, shapes[1]);
  ModelBuilder in;
  in.input("h", kF, {2, 3}).input("xi", kF, {2, 3}).input("ui", kF, {2, 3});
  in.node("Mul", {"h", "xi"}, {"m"}).node("Add", {"m", "ui"}, {"h2"}).node("Neg", {"m"}, {"y"});
  in.output("h2").output("y").output("h2");
  std::string name = "scan";
  for (const Ints* list : {&axes, &from_end, &out_axes, &out_from_end}) {
    for (const std::int64_t each : *list) name += cat(" ", each);
  }
  model.node("Scan", {"h0", "x", "u"}, {"h_end", "ys", "hs"},
             {{"num_scan_inputs", std::int64_t{2}},
              {"scan_input_axes", std::move(axes)},
              {"scan_input_directions", std::move(from_end)},
              {"scan_output_axes", std::move(out_axes)},
              {"scan_output_directions", std::move(out_from_end)}});
  model.subgraph("body", in);
  model.node("Transpose", {"ys"}, {"yn"}, {{"perm", Ints{2, 1, 0}}}).node("Tanh", {"yn"}, {"y2"});
  model.output("h_end").output("y2").output("hs");
  const auto shape_of = [](const std::vector<Dim>& dims) {
    Shape out;
    for (const Dim& dim : dims) out.push_back(std::get<std::int64_t>(dim));
    return out;
  };
  return made(
      name, model,
      {numbers(9, {2, 3}), numbers(10, shape_of(shapes[0])), numbers(11, shape_of(shapes[1]))});
}

// The Scan of ai.onnx 8 over a batch of 2: a state, an input in the order of time and one against
// it.
Case scan_of_batch() {
  ModelBuilder model(8);
  model.input("h0", kF, {2, 3}).input("x", kF, {2, 4, 3}).input("u", kF, {2, 4, 1});
  ModelBuilder in(8);
  in.input("h", kF, {3}).input("a", kF, {3}).input("b", kF, {1});
  in.node("Mul", {"h", "b"}, {"c"}).node("Add", {"c", "a"}, {"h2"}).node("Neg", {"h2"}, {"each"});
  in.output("h2").output("each");
  model.node("Scan", {"", "h0", "x", "u"}, {"h_end", "ys"},
             {{"num_scan_inputs", std::int64_t{2}}, {"directions", Ints{0, 1}}});
  model.subgraph("body", in).output("h_end").output("ys");
  return made("scan of a batch", model,
              {numbers(24, {2, 3}), numbers(25, {2, 4, 3}), numbers(26, {2, 4, 1})});
}

// FlexAttention with scores that are bent and moved by position, and halved shares.
Case modified_attention() {
  ModelBuilder model(26);
  model.opset("ai.onnx.preview", 1);
  model.input("q", kF, {2, 4, 3, 8}).input("k", kF, {2, 2, 9, 8}).input("v", kF, {2, 2, 9, 5});
  ModelBuilder bend(26), half(26);
  bend.input("s", kF, {2, 4, 3, 9}).initializer("moved", numbers(27, {4, 1, 9}));
  bend.node("Tanh", {"s"}, {"t"}).node("Add", {"t", "moved"}, {"s2"}).output("s2");
  half.input("p", kF, {2, 4, 3, 9}).initializer("half", f32({}, {0.5F}));
  half.node("Mul", {"p", "half"}, {"p2"}).output("p2");
  model.node("FlexAttention", {"q", "k", "v"}, {"y"}, {}, "ai.onnx.preview");
  model.subgraph("score_mod", bend).subgraph("prob_mod", half).output("y");
  return made("modified attention", model,
              {numbers(28, {2, 4, 3, 8}), numbers(29, {2, 2, 9, 8}), numbers(30, {2, 2, 9, 5})});
}

// A cell that hands out more than anything reads: slices in between and the last state.
Case unread_results(bool is_scan) {
  ModelBuilder model;
  model.input("h0", kF, {3}).input("x", kF, {4, 3});
  ModelBuilder in = is_scan ? ModelBuilder() : body();
  in.input("h", kF, {3});
  if (is_scan) in.input("row", kF, {3});
  if (!is_scan) in.node("Gather", {"x", "trip"}, {"row"}).node("Identity", {"go"}, {"go2"});
  in.node("Add", {"h", "row"}, {"h2"}).node("Neg", {"h2"}, {"a"}).node("Abs", {"h2"}, {"b"});
  if (!is_scan) in.output("go2");
  in.output("h2").output("a").output("b").output("row");
  if (is_scan) {
    model.node("Scan", {"h0", "x"}, {"h_end", "as", "bs", "rows"},
               {{"num_scan_inputs", std::int64_t{1}}});
  } else {
    model.initializer("n", s64({}, {4})).initializer("yes", truth(true));
    model.node("Loop", {"n", "yes", "h0"}, {"h_end", "as", "bs", "rows"});
  }
  model.subgraph("body", in).output("bs");
  return made(cat("results that nothing reads, of ", is_scan ? "Scan" : "Loop"), model,
              {numbers(22, {3}), numbers(23, {4, 3})});
}

// A loop that adds up the elements of x above its trip, in some trips none of them, and carries
// those above 0, whose number y has.
Case counted_rows() {
  ModelBuilder model(17);
  model.input("x", kF, {7}).initializer("n", s64({}, {4})).initializer("yes", truth(true));
  model.initializer("zero", f32({}, {0})).initializer("h0", f32({1}, {0}));
  model.node("Greater", {"x", "zero"}, {"flags"}).node("Compress", {"x", "flags"}, {"found"});
  ModelBuilder in = body(), some(17), none(17);
  some.node("Greater", {"x", "t"}, {"b"}).node("Compress", {"x", "b"}, {"s"}).output("s");
  none.node("Constant", {}, {"o"}, {{"value", f32({0}, {})}}).output("o");
  in.input("h", kF, {1}).input("rows", kF, {"k"}).initializer("limit", f32({1}, {6}));
  in.node("Cast", {"trip"}, {"t"}, {{"to", std::int64_t{1}}}).node("Less", {"h", "limit"}, {"few"});
  in.node("If", {"few"}, {"y"}).subgraph("then_branch", none).subgraph("else_branch", some);
  in.node("ReduceSum", {"y"}, {"sum"}).node("Sum", {"h", "sum", "limit"}, {"h2"});
  in.node("Add", {"rows", "found"}, {"rows2"}).output("go").output("h2").output("rows2");
  model.node("Loop", {"n", "yes", "h0", "found"}, {"h_end", "y"}).subgraph("body", in);
  model.output("h_end").output("y");
  return made("rows that values count", model, {numbers(31, {7})});
}

// A trip for each element of x that is above 0, which may end before the last one.
Case trips_of_rows(int limit) {
  ModelBuilder model(17);
  model.input("x", kF, {7}).initializer("yes", truth(true)).initializer("h0", f32({}, {0}));
  model.initializer("zero", f32({}, {0})).initializer("first", s64({}, {0}));
  model.node("Greater", {"x", "zero"}, {"flags"}).node("Compress", {"x", "flags"}, {"found"});
  model.node("Shape", {"found"}, {"sizes"}).node("Gather", {"sizes", "first"}, {"rows"});
  ModelBuilder in = body();
  in.input("h", kF, {})
      .initializer("ten", f32({}, {10}))
      .initializer("limit", f32({}, {static_cast<float>(limit)}));
  in.node("Gather", {"found", "trip"}, {"row"}).node("Mul", {"h", "ten"}, {"h1"});
  in.node("Add", {"h1", "row"}, {"h2"}).node("Less", {"h2", "limit"}, {"small"});
  in.output("small").output("h2");
  model.node("Loop", {"rows", "yes", "h0"}, {"y"}).subgraph("body", in).output("y");
  return made(cat("a trip for each row below ", limit), model, {numbers(31, {7})});
}

// Branches of different work on values of around, with a constant that both and the rest need in
// memory, and an If in one of them.
Case choice(bool first, bool second) {
  ModelBuilder model;
  model.input("x", kF, {1, 2, 5, 5}).input("c", DType::kBool, {}).input("d", DType::kBool, {});
  model.initializer("w", numbers(12, {2, 2, 3, 3})).initializer("k", numbers(13, {1, 2, 5, 5}));
  model.node("Relu", {"x"}, {"r"});
  ModelBuilder in_then, in_else, inner_then, inner_else;
  in_then.node("Conv", {"r", "w"}, {"a"}, {{"pads", Ints{1, 1, 1, 1}}});
  in_then.node("Concat", {"a", "k"}, {"a2"}, {{"axis", std::int64_t{1}}}).output("a2").output("x");
  inner_then.node("Sub", {"r", "k"}, {"f"}).output("f");
  inner_else.node("Transpose", {"r"}, {"g"}, {{"perm", Ints{0, 1, 3, 2}}}).output("g");
  in_else.node("If", {"d"}, {"e"}).subgraph("then_branch", inner_then);
  in_else.subgraph("else_branch", inner_else);
  in_else.node("Concat", {"e", "k"}, {"e2"}, {{"axis", std::int64_t{1}}}).output("e2").output("k");
  model.node("If", {"c"}, {"y", "z"}).subgraph("then_branch", in_then);
  model.subgraph("else_branch", in_else);
  model.node("Concat", {"y", "k"}, {"y2"}, {{"axis", std::int64_t{1}}}).output("y2");
  model.node("Add", {"z", "r"}, {"z2"}).output("z2");
  return made(cat("branches ", first, " ", second), model,
              {numbers(14, {1, 2, 5, 5}), truth(first), truth(second)});
}

// A branch in a loop that is taken in some trips, and a loop in that branch.
Case loop_with_choice() {
  ModelBuilder model;
  model.input("x", kF, {4}).initializer("n", s64({}, {5})).initializer("yes", truth(true));
  ModelBuilder inner;
  inner.input("j", DType::kS64, {}).input("go_on", DType::kBool, {}).input("t", kF, {4});
  inner.node("Mul", {"t", "x"}, {"t2"}).node("Identity", {"go_on"}, {"go3"});
  inner.output("go3").output("t2");
  ModelBuilder in_then, in_else;
  in_then.initializer("two", s64({}, {2}));
  in_then.node("Loop", {"two", "", "h"}, {"a"}).subgraph("body", inner).output("a");
  in_else.node("Neg", {"h"}, {"b"}).output("b");
  ModelBuilder in = body();
  in.input("h", kF, {4}).initializer("limit", f32({}, {1}));
  in.node("ReduceMax", {"h"}, {"most"}, {{"keepdims", std::int64_t{0}}});
  in.node("Less", {"most", "limit"}, {"small"});
  in.node("If", {"small"}, {"h1"}).subgraph("then_branch", in_then);
  in.subgraph("else_branch", in_else).node("Add", {"h1", "x"}, {"h2"});
  in.node("Identity", {"go"}, {"go2"}).output("go2").output("h2").output("small");
  model.node("Loop", {"n", "yes", "x"}, {"h_end", "taken"}).subgraph("body", in);
  model.output("h_end").output("taken");
  return made("a branch in a loop", model, {f32({4}, {0.5F, -1, 0.25F, 2})});
}

// Quantized layers in the body; what they read of around the loop is the same in all trips.
Case quantized_loop() {
  ModelBuilder model;
  Dice dice(21);
  model.input("q", DType::kU8, {1, 3, 6, 6}).initializer("yes", truth(true));
  model.initializer("n", s64({}, {3})).initializer("s", f32({}, {0.125F}));
  model.initializer("z", u8({}, {7})).initializer("ws", f32({}, {0.03125F}));
  model.initializer("wz", s8({}, {0}));
  model.initializer("w", random_bytes(dice, DType::kS8, {3, 3, 3, 3}));
  ModelBuilder in = body();
  in.input("h", DType::kU8, {1, 3, 6, 6});
  in.node("QLinearConv", {"h", "s", "z", "w", "ws", "wz", "s", "z"}, {"c"},
          {{"pads", Ints{1, 1, 1, 1}}});
  in.node("MaxPool", {"q"}, {"p"}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  in.node("Max", {"c", "p"}, {"h2"}).node("Identity", {"go"}, {"go2"});
  in.output("go2").output("h2").output("c");
  model.node("Loop", {"n", "yes", "q"}, {"y", "cs"}).subgraph("body", in);
  model.output("y").output("cs");
  return made("convolutions in a loop", model, {random_bytes(dice, DType::kU8, {1, 3, 6, 6})});
}
// The body of a loop over h that adds x to it.
ModelBuilder adding_body() {
  ModelBuilder in = body();
  in.input("h", kF, {2, 3}).node("Add", {"h", "x"}, {"h2"});
  return in.output("go").output("h2");
}

ModelBuilder loop_over(std::int64_t trips, const std::vector<std::string>& results,
                       const ModelBuilder& in) {
  ModelBuilder model;
  model.input("x", kF, {2, 3}).input("s", kF, {2, 3});
  model.initializer("n", s64({}, {trips})).initializer("yes", truth(true));
  model.node("Loop", {"n", "yes", "s"}, results).subgraph("body", in).output("y");
  return model;
}
}  // namespace

ModelBuilder adding_loop(std::int64_t trips) { return loop_over(trips, {"y"}, adding_body()); }

ModelBuilder collecting_loop() {
  ModelBuilder in = adding_body();
  in.node("Identity", {"h2"}, {"each"}).output("each");
  return loop_over(3, {"", "y"}, in);
}

std::vector<Case> control_cases() {
  std::vector<Case> out;
  const std::vector<Tensor> inputs = {numbers(15, {2, 3}), numbers(16, {2, 3})};
  for (const std::int64_t trips : {0, 1, 2, 7})
    out.push_back(made(cat("adds ", trips, " times"), adding_loop(trips), inputs));
  for (const bool by_condition : {false, true}) out.push_back(counted_cell(by_condition));
  for (const int limit : {-1, 9, 13, 1000}) out.push_back(stopping_loop(limit, true));
  out.push_back(stopping_loop(9, false));
  for (const bool starts : {false, true}) out.push_back(unchanged_condition(starts));
  for (const int limit : {1, 13, 1000}) {
    for (const bool by_if : {false, true}) out.push_back(while_both(limit, by_if));
  }
  out.push_back(rotating_loop());
  for (const int trips : {0, 3}) out.push_back(empty_values(trips));
  for (const bool first : {false, true}) out.push_back(empty_result(first));
  out.push_back(nested_loops());
  out.push_back(inner_loop_of_its_own());
  out.push_back(scan({0, 0}, {0, 0}, {0, 0}, {0, 0}));
  out.push_back(scan({1, 0}, {0, 1}, {2, 1}, {1, 0}));
  out.push_back(scan({-1, 1}, {1, 1}, {-1, 0}, {0, 1}));
  out.push_back(scan_of_batch());
  out.push_back(counted_rows());
  for (const int limit : {40, 1'000'000'000}) out.push_back(trips_of_rows(limit));
  out.push_back(modified_attention());
  for (const bool is_scan : {false, true}) out.push_back(unread_results(is_scan));
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) out.push_back(choice(first, second));
  }
  out.push_back(loop_with_choice());
  out.push_back(quantized_loop());
  return out;
}

}  // namespace etch
