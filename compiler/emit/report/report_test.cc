// The reports: well-formed, self-contained, safe against whatever a model calls its nodes, and the
// same bytes every time.
#include "compiler/emit/report/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/report/html.h"
#include "compiler/emit/report/verdict.h"
#include "compiler/ir/graph.h"
#include "compiler/schedule/memory.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

constexpr char kHostile[] =
    "</td><script>alert('x')</script>&lt; \"onload=\"//evil.example\n\x01\xff";

Program planned_program() {
  Program program = testing::tiny_program(isa::k_scalar);
  plan_memory(program);
  program.steps[1]->accumulators = AccumulatorBounds{-70000, 70000};
  program.steps[1]->schedule = "1 x 1 pixels";
  program.quantization = {{0, "x", false, DType::kU8, 1, 0.5F, 0.5F, 0.5F, 3, 3},
                          {0, "w", true, DType::kS8, 16, 0.25F, 0.5F, 2.0F, 0, 0}};
  program.steps[0]->node = 0;
  Node node;
  node.index = 0;
  node.op_type = "Mask";
  program.fusions.fused(node, "became something");
  return program;
}

ReportData data_of(const Program& program) {
  EmitOptions options;
  options.name = "tiny";
  return gather_report(program, options, {"tiny.h"});
}

// Reads XML with the elements' names on a stack. Attributes must be quoted, entities be those five.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::string fault() {
    while (at_ < text_.size()) {
      const bool good = text_[at_] == '<' ? tag() : content();
      if (!good) return cat("at ", at_, ": ", std::string(text_.substr(at_, 60)));
    }
    return stack_.empty() ? "" : cat(stack_.back(), " is not closed");
  }
  int elements() const { return elements_; }

 private:
  bool content() {
    if (text_[at_] == '>') return false;
    if (text_[at_] == '&') return entity();
    ++at_;
    return true;
  }
  bool entity() {
    for (const std::string_view name : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      if (text_.substr(at_, name.size()) != name) continue;
      at_ += name.size();
      return true;
    }
    return false;
  }
  std::string word() {
    const std::size_t end = text_.find_first_of(" =/>", at_);
    std::string out(text_.substr(at_, end - at_));
    at_ = end;
    return out;
  }
  bool tag() {
    if (text_.substr(at_, 2) == "</") return closing();
    ++at_;
    const std::string name = word();
    ++elements_;
    while (text_[at_] == ' ') {
      if (!attribute()) return false;
    }
    if (text_.substr(at_, 2) == "/>") {
      at_ += 2;
      return true;
    }
    if (text_[at_++] != '>') return false;
    if (name == "style" || name == "script") at_ = text_.find("</" + name + ">", at_);
    stack_.push_back(name);
    return true;
  }
  bool closing() {
    at_ += 2;
    const std::string name = word();
    if (stack_.empty() || stack_.back() != name || text_[at_++] != '>') return false;
    stack_.pop_back();
    return true;
  }
  bool attribute() {
    ++at_;
    word();
    if (text_.substr(at_, 2) != "=\"") return false;
    at_ += 2;
    while (text_[at_] != '"') {
      if (text_[at_] == '<' || !content()) return false;
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int elements_ = 0;
  std::vector<std::string> stack_;
};

std::string fault_of(std::string_view page) {
  constexpr std::string_view kType = "<!DOCTYPE html>\n";
  if (page.substr(0, kType.size()) != kType) return "no document type";
  return Parser(page.substr(kType.size())).fault();
}

TEST(RamPeak, IsTheStepWhereTheMostBytesAreCovered) {
  std::mt19937 random(5);
  const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    ReportData data;
    const int steps = 1 + below(12);
    data.layers.resize(static_cast<std::size_t>(steps));
    for (int i = below(8); i > 0; --i) {
      Buffer buffer;
      buffer.arena_offset = below(40);
      buffer.bytes = below(30);
      buffer.first_step = below(8);
      buffer.last_step = buffer.first_step + below(4);
      if (below(5) == 0) buffer.home = Home::kOutput;
      data.buffers.push_back(buffer);
    }
    RamPeak expected;
    for (int step = 0; step < steps; ++step) {
      std::set<std::int64_t> bytes;
      for (const Buffer& buffer : data.buffers) {
        if (buffer.home != Home::kArena || step < buffer.first_step || buffer.last_step < step)
          continue;
        for (std::int64_t i = 0; i < buffer.bytes; ++i) bytes.insert(buffer.arena_offset + i);
      }
      const auto used = static_cast<std::int64_t>(bytes.size());
      if (used > expected.bytes) expected = {step, used};
    }
    EXPECT_EQ(ram_peak(data).step, expected.step);
    EXPECT_EQ(ram_peak(data).bytes, expected.bytes);
  }
}

TEST(ReportParser, SeesWhatIsWrong) {
  EXPECT_EQ(Parser("<a b=\"1\">x &amp; y<c/></a>").fault(), "");
  for (const char* text :
       {"<a>", "<a></b>", "<a b=1></a>", "a & b", "a > b", "<a b=\"<\"></a>", "&nbsp;", "</a>"}) {
    EXPECT_NE(Parser(text).fault(), "") << text;
  }
}

TEST(ReportHtml, IsWellFormed) {
  const std::string page = report_html(data_of(planned_program()));
  EXPECT_EQ(fault_of(page), "");
  for (const char* word : {"n00_mask", "n01_sum", "weighted sum", "-70,000 to 70,000",
                           "18 of 32 bits", ">8×<", "became something", "1 x 1 pixels", "tiny.h"}) {
    EXPECT_NE(page.find(word), std::string::npos) << word;
  }
}

TEST(ReportHtml, IsWellFormedWithoutAnySteps) {
  Program program;
  program.isa = isa::k_scalar;
  EXPECT_EQ(fault_of(report_html(data_of(program))), "");
}

TEST(ReportHtml, ShowsHostileNamesAsText) {
  const std::string plain = report_html(data_of(planned_program()));
  Program program = planned_program();
  program.producer = kHostile;
  program.inputs[0].name = program.outputs[0].name = kHostile;
  program.buffers[1].label = kHostile;
  // Lowering and the log make these printable; markup they still may be.
  program.steps[0]->origin = printable(kHostile);
  Node node;
  node.op_type = node.name = kHostile;
  program.fusions.missed(node, "stays");
  const std::string page = report_html(data_of(program));
  EXPECT_EQ(fault_of(page), "");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("\"onload"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&#39;x&#39;)"), std::string::npos);
  for (const char c : page) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  const auto scripts = [](const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find("<script"); at != std::string::npos;
         at = text.find("<script", at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(scripts(page), scripts(plain));
}

TEST(ReportHtml, LoadsNothing) {
  const std::string page = report_html(data_of(planned_program()));
  for (const char* word :
       {"://", "src=", "url(", "@import", "<link", "<img", "<iframe", "fetch("}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
  for (auto at = page.find("href=\""); at != std::string::npos; at = page.find("href=\"", at + 1)) {
    EXPECT_EQ(page[at + 6], '#') << page.substr(at, 40);
  }
  EXPECT_NE(page.find("default-src &#39;none&#39;"), std::string::npos);
}

// As a caller writes them; what a model calls its ports need not be an identifier.
TEST(ReportHtml, CallsPortsAsRunDoes) {
  ReportData data = data_of(planned_program());
  ASSERT_GE(data.parameters.size(), 2U);
  data.parameters[0] = "picture";
  data.parameters[data.inputs.size()] = "scores";
  const std::string page = report_html(data);
  EXPECT_EQ(fault_of(page), "");
  for (const char* cell : {"<td class=\"mono\">picture</td>", "<td class=\"mono\">scores</td>"}) {
    EXPECT_NE(page.find(cell), std::string::npos) << cell;
  }
  EXPECT_EQ(page.find(">input0<"), std::string::npos);  // nor in the picture of the graph
}

TEST(ReportHtml, CutsLongShapesBetweenCharacters) {
  ReportData data = data_of(planned_program());
  data.inputs[0].dtype = DType::kF32;
  data.inputs[0].shape = {1, 3, 1024, 1024};
  EXPECT_NE(report_html(data).find(">float32 1\u00d73\u00d71024\u00d7\u2026<"), std::string::npos);
}

TEST(Reports, AreDeterministic) {
  const ReportData first = data_of(planned_program());
  const ReportData second = data_of(planned_program());
  EXPECT_EQ(report_html(first), report_html(second));
  EXPECT_EQ(report_json(first), report_json(second));
}

TEST(Reports, TellTheTimesThatWereMeasured) {
  ReportData data = data_of(planned_program());
  EXPECT_EQ(report_html(data).find("GMAC/s"), std::string::npos);
  data.time = MeasuredTime{12.5, 11.25};
  data.layers[1].time = MeasuredTime{8.75, 8.5};
  data.code_bytes = 4321;
  const std::string page = report_html(data);
  EXPECT_EQ(fault_of(page), "");
  for (const char* word : {"GMAC/s", "12.50 µs", "8.75", "4,321"}) {
    EXPECT_NE(page.find(word), std::string::npos) << word;
  }
  const auto json = nlohmann::json::parse(report_json(data));
  EXPECT_EQ(json["median_us"], 12.5);
  EXPECT_EQ(json["steps"][1]["min_us"], 8.5);
  EXPECT_FALSE(json["steps"][0].contains("median_us"));
}

TEST(Reports, CountAnArrayWithTheFirstLayerThatHasIt) {
  Program program = planned_program();
  ConstantArray& weights = program.steps[1]->constants[0];
  program.steps[0]->constants.push_back(weights);
  weights.owner = "n00_mask";
  const ReportData data = data_of(program);
  EXPECT_EQ(data.layers[0].constant_bytes + data.layers[1].constant_bytes, data.flash_bytes);
  EXPECT_TRUE(data.layers[0].shared_constants.empty());
  ASSERT_EQ(data.layers[1].shared_constants.size(), 1U);
  const std::int64_t shared = data.layers[1].shared_constants[0].bytes;
  EXPECT_GE(shared, static_cast<std::int64_t>(weights.bytes.size()));
  const auto json = nlohmann::json::parse(report_json(data));
  EXPECT_FALSE(json["steps"][0].contains("shared_constants"));
  EXPECT_EQ(json["steps"][1]["shared_constants"],
            nlohmann::json::array({{{"owner", "n00_mask"}, {"bytes", shared}}}));
  EXPECT_NE(report_html(data).find(" of n00_mask</small>"), std::string::npos);
}

TEST(ReportJson, SaysWhatThePageSays) {
  Program program = planned_program();
  Node node;
  node.index = 7;
  node.op_type = "Tanh";
  program.fusions.missed(node, "no integer form");
  program.fusions.offer(node, "--qdq all");
  const auto json = nlohmann::json::parse(report_json(data_of(program)));
  EXPECT_EQ(json["files"], nlohmann::json({"report.json", "report.html", "tiny.h"}));
  EXPECT_EQ(json["steps"][1]["accumulators"], nlohmann::json({-70000, 70000}));
  EXPECT_EQ(json["steps"][1]["schedule"], "1 x 1 pixels");
  EXPECT_EQ(json["steps"][0]["quantization"][1]["scale"], nlohmann::json({0.25, 0.5, 2.0}));
  EXPECT_EQ(json["fusions"]["fused"][0]["what"], "became something");
  EXPECT_EQ(json["fusions"]["missed"][0]["why"], "no integer form");
  EXPECT_EQ(json["fusions"]["missed"][0]["node"], 7);
  EXPECT_EQ(json["fusions"]["missed"][0]["option"], "--qdq all");
}

TEST(Html, EscapesTextAndAttributes) {
  Html html;
  html.begin("p", {{"title", "a\"b<c"}});
  html.text("x < y & 'z'\t>");
  html.end();
  EXPECT_EQ(html.take(), "<p title=\"a&quot;b&lt;c\">x &lt; y &amp; &#39;z&#39; &gt;</p>");
}

LayerReport layer(const std::string& name, std::int64_t macs, std::int64_t float_macs,
                  bool has_floats) {
  LayerReport out;
  out.name = name;
  out.kind = "conv";
  out.origin = "Conv '" + name + "'";
  out.macs = macs;
  out.float_macs = float_macs;
  out.has_floats = has_floats;
  return out;
}

ReportData mixed_report() {
  ReportData data;
  data.macs = 1000;
  data.float_macs = 8;
  data.layers = {layer("a", 900, 0, false), layer("b", 5, 5, true), layer("c", 3, 3, true),
                 layer("d", 92, 0, false)};
  Buffer buffer;
  buffer.bytes = 1234;
  buffer.first_step = 2;
  buffer.last_step = 3;
  buffer.arena_offset = 64;
  Buffer over_it = buffer;  // 1,000 of its bytes
  over_it.first_step = over_it.last_step = 3;
  over_it.arena_offset = 298;
  over_it.bytes = 1010;
  data.buffers = {buffer, over_it};
  return data;
}

TEST(Verdict, SaysWhatIsInFloatsAndWhatNeedsTheMostMemory) {
  const std::vector<std::string> expected{
      "99.2 % of the multiplications are of integers",
      "1 float island of 2 steps: b to c, 0.8 % of the multiplications",
      "the most RAM is in use in d, step 3: 1,244 bytes"};
  EXPECT_EQ(verdict(mixed_report()), expected);
}

TEST(Verdict, SaysWhatTakesTheMostTime) {
  ReportData data = mixed_report();
  for (LayerReport& each : data.layers) each.time = MeasuredTime{10, 10};
  data.layers[3].time = MeasuredTime{70, 60};
  const std::vector<std::string> said = verdict(data);
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[1],
            "1 float island of 2 steps: b to c, 0.8 % of the multiplications, 20 % of "
            "the time");
  EXPECT_EQ(said[3], "the slowest step is d, 70 % of the time");
}

TEST(Verdict, CountsIslandsApart) {
  ReportData data = mixed_report();
  data.layers[3] = layer("d", 92, 92, true);
  data.layers[2] = layer("c", 3, 0, false);
  data.float_macs = 97;
  EXPECT_EQ(verdict(data)[1],
            "2 float islands with 2 steps together; the largest: d, 9.2 % of the "
            "multiplications");
}

TEST(Verdict, NamesTheOptionThatMakesIntegersOfFloats) {
  ReportData data = mixed_report();
  data.layers[1].node = 3;
  data.layers[2].node = 4;
  data.fusions = {{FusionRecord::Outcome::kMissed, 3, "Conv", "", "why", "--qdq all"},
                  {FusionRecord::Outcome::kMissed, 4, "Conv", "", "why", ""}};
  EXPECT_EQ(verdict(data)[2],
            "--qdq all computes 0.5 % of the multiplications in integers instead");
}

TEST(Verdict, NamesTheOptionThatFusesAGoodPartOfTheProducts) {
  ReportData data = mixed_report();
  data.may_fuse = true;
  data.float_macs = 200;
  for (const std::string& sentence : verdict(data))
    EXPECT_EQ(sentence.find("--float-products"), std::string::npos) << sentence;
  data.float_macs = 201;
  EXPECT_EQ(verdict(data)[2],
            "--float-products fused rounds product and sum at once, faster on this target, in "
            "20 % of the multiplications; last bits differ");
  data.may_fuse = false;
  for (const std::string& sentence : verdict(data))
    EXPECT_EQ(sentence.find("--float-products"), std::string::npos) << sentence;
}

TEST(Verdict, DoesNotCallAFloatNetworkQuantized) {
  ReportData data = mixed_report();
  data.float_macs = data.macs;
  EXPECT_EQ(verdict(data)[0], "all arithmetic is in float: the network is not quantized");
  data.float_macs = 0;
  data.layers = {layer("a", 1000, 0, false)};
  EXPECT_EQ(verdict(data)[0], "all multiplications are of integers");
  EXPECT_TRUE(verdict(ReportData()).empty());
}

TEST(Verdict, SaysHowManyBitsPackedWeightsHave) {
  ReportData data = mixed_report();
  data.float_macs = data.macs;
  for (LayerReport& each : data.layers) each.float_macs = each.macs;
  data.layers[0].weight_bits = 4;
  EXPECT_EQ(verdict(data)[0],
            "weights of 4 bits, products of floats: 90 % of the multiplications read packed "
            "weights");
  for (LayerReport& each : data.layers) each.weight_bits = 4;
  data.layers[3].weight_bits = 8;
  EXPECT_EQ(verdict(data)[0],
            "weights of 4 or 8 bits, products of floats: all multiplications read packed weights");
  data.layers = {layer("table", 0, 0, true), layer("a", 1000, 1000, true)};
  data.layers[0].weight_bits = 4;
  EXPECT_EQ(verdict(data)[0],
            "weights of 4 bits, products of floats: only tables are packed, no multiplication "
            "reads them");
}

TEST(Verdict, CountsPackedWeightsBesideIntegers) {
  ReportData data = mixed_report();
  data.layers[3] = layer("d", 92, 92, true);
  data.layers[3].weight_bits = 4;
  data.float_macs = 100;
  EXPECT_EQ(verdict(data)[0],
            "90 % of the multiplications are of integers, 9.2 % of floats and weights of 4 bits");
}

}  // namespace
}  // namespace etch
