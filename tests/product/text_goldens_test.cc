// Generated text that a change of the compiler must not change unseen: four small networks, each
// for one target, whose files are in tests/data/text_goldens. Every file is short enough to be read
// in a review, and the same programs are built and run against the references, so that no golden
// can hold wrong code. ETCH_UPDATE_GOLDENS=1 writes the files anew (refused in CI): read the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/emit.h"
#include "compiler/host/elf_file.h"
#include "compiler/host/network.h"
#include "compiler/host/toolchain.h"
#include "compiler/program/arena.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kMostLines = 320;

// Values that need no random numbers: a walk through the range in steps without a small period.
template <class T>
Tensor walk(const Shape& shape, int least, int most, int step) {
  std::vector<T> values(static_cast<std::size_t>(element_count(shape)));
  int at = 0;
  for (T& value : values) {
    value = static_cast<T>(least + at);
    at = (at + step) % (most - least + 1);
  }
  return Tensor::of<T>(shape, values);
}

class SmallNetwork {
 public:
  explicit SmallNetwork(const Shape& x) {
    model_.opset("com.microsoft", 1);
    model_.input("x", DType::kU8, {x.begin(), x.end()});
    input_ = walk<std::uint8_t>(x, 0, 255, 37);
    quantization("x", 0.02F, 128);
  }

  void convolution(const std::string& x, const std::string& y, const Shape& w,
                   const std::map<std::string, Attribute>& attributes) {
    weights(y, w);
    const std::int64_t m = w[0];
    std::vector<float> scale(static_cast<std::size_t>(m));
    for (std::size_t i = 0; i < scale.size(); ++i)
      scale[i] = 0.004F + 0.001F * static_cast<float>(i % 3);
    model_.initializer(y + "_w_scale", Tensor::of<float>({m}, scale));
    model_.initializer(y + "_w_zp",
                       Tensor::of<std::int8_t>({m}, std::vector<std::int8_t>(scale.size(), 0)));
    model_.initializer(y + "_b", walk<std::int32_t>({m}, -900, 900, 413));
    quantization(y, 0.05F, 100);
    model_.node("QLinearConv",
                {x, x + "_scale", x + "_zp", y + "_w", y + "_w_scale", y + "_w_zp", y + "_scale",
                 y + "_zp", y + "_b"},
                {y}, attributes);
  }

  void matrix(const std::string& x, const std::string& y, const Shape& w) {
    weights(y, w);
    model_.initializer(y + "_w_scale", Tensor::of<float>({}, {0.006F}));
    model_.initializer(y + "_w_zp", Tensor::of<std::int8_t>({}, {0}));
    quantization(y, 0.08F, 120);
    model_.node("QLinearMatMul",
                {x, x + "_scale", x + "_zp", y + "_w", y + "_w_scale", y + "_w_zp", y + "_scale",
                 y + "_zp"},
                {y});
  }

  void sum(const std::string& a, const std::string& b, const std::string& y) {
    quantization(y, 0.06F, 110);
    model_.node("QLinearAdd",
                {a, a + "_scale", a + "_zp", b, b + "_scale", b + "_zp", y + "_scale", y + "_zp"},
                {y}, {}, "com.microsoft");
  }

  void softmax(const std::string& x, const std::string& y) {
    quantization(y, 1.0F / 256, 0);
    model_.node("QLinearSoftmax", {x, x + "_scale", x + "_zp", y + "_scale", y + "_zp"}, {y},
                {{"axis", 1}, {"opset", 13}}, "com.microsoft");
  }

  void node(const std::string& op, const std::string& x, const std::string& y,
            const std::map<std::string, Attribute>& attributes = {}) {
    model_.node(op, {x}, {y}, attributes);
    model_.initializer(y + "_scale", Tensor::of<float>({}, {scale_.at(x)}));
    model_.initializer(y + "_zp", Tensor::of<std::uint8_t>({}, {zero_point_.at(x)}));
    scale_[y] = scale_.at(x);
    zero_point_[y] = zero_point_.at(x);
  }

  Case finish(const std::string& name, const std::string& output) {
    model_.output(output);
    return {name, model_.bytes(), {input_}};
  }

 private:
  void quantization(const std::string& name, float scale, std::uint8_t zero_point) {
    scale_[name] = scale;
    zero_point_[name] = zero_point;
    model_.initializer(name + "_scale", Tensor::of<float>({}, {scale}));
    model_.initializer(name + "_zp", Tensor::of<std::uint8_t>({}, {zero_point}));
  }
  void weights(const std::string& y, const Shape& shape) {
    model_.initializer(y + "_w", walk<std::int8_t>(shape, -127, 127, 59));
  }

  ModelBuilder model_;
  Tensor input_;
  std::map<std::string, float> scale_;
  std::map<std::string, std::uint8_t> zero_point_;
};

struct Golden {
  Case network;
  std::string target;
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.network.name << " for " << golden.target;
}

const Ints kSame = {1, 1, 1, 1};

Golden pooled_convolution() {
  SmallNetwork net({1, 2, 6, 6});
  net.convolution("x", "conv", {2, 2, 3, 3}, {{"pads", kSame}, {"strides", Ints{2, 2}}});
  net.node("MaxPool", "conv", "pool", {{"kernel_shape", Ints{3, 3}}});
  return {net.finish("pooled_convolution", "pool"), "scalar"};
}

Golden residual_block() {
  SmallNetwork net({1, 8, 2, 3});
  net.convolution("x", "first", {8, 8, 1, 1}, {});
  net.convolution("first", "second", {8, 8, 1, 1}, {});
  net.sum("second", "first", "sum");
  return {net.finish("residual_block", "sum"), "avx2"};
}

Golden classifier() {
  SmallNetwork net({1, 24});
  net.matrix("x", "product", {24, 6});
  net.softmax("product", "class");
  return {net.finish("classifier", "class"), "cortex-m4"};
}

Golden separable_convolution() {
  SmallNetwork net({1, 16, 4, 4});
  net.convolution("x", "depthwise", {16, 1, 3, 3}, {{"pads", kSame}, {"group", 16}});
  net.convolution("depthwise", "pointwise", {8, 16, 1, 1}, {});
  return {net.finish("separable_convolution", "pointwise"), "cortex-m55"};
}

class TextGolden : public testing::TestWithParam<Golden> {
 protected:
  static const Case& network() { return GetParam().network; }
  static fs::path folder() {
    return fs::path(source_dir()) / "tests/data/text_goldens" / network().name;
  }
  static std::unique_ptr<Program> program() {
    return compiled(network(), GetParam().target, RequantizeMode::kAuto);
  }
};

// The network's own C++: what Etch adds is the same for all networks.
std::map<std::string, std::string> own_sources(const Program& program, const std::string& name) {
  std::map<std::string, std::string> out;
  EmitOptions options;
  options.name = name;
  for (OutputFile& file : emit(program, options)) {
    const fs::path path = file.path;
    const bool source = path.extension() == ".cc" || path.extension() == ".h";
    if (source && !path.has_parent_path()) out[file.path] = std::move(file.content);
  }
  return out;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void update(const fs::path& folder, const std::map<std::string, std::string>& files) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [path, text] : files) std::ofstream(folder / path, std::ios::binary) << text;
}

TEST_P(TextGolden, IsWhatIsGenerated) {
  const auto made = program();
  ASSERT_NE(made, nullptr);
  const auto files = own_sources(*made, network().name);
  ASSERT_FALSE(files.empty());
  if (std::getenv("ETCH_UPDATE_GOLDENS") != nullptr) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "goldens are not updated in CI";
    update(folder(), files);
  }
  std::vector<std::string> stored;
  for (const auto& entry : fs::directory_iterator(folder()))
    stored.push_back(entry.path().filename().string());
  EXPECT_EQ(stored.size(), files.size());
  for (const auto& [path, text] : files) {
    EXPECT_TRUE(text_of(folder() / path) == text)
        << path << " differs from " << (folder() / path) << "; is the change meant?\n"
        << text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kMostLines) << path;
  }
}

TEST_P(TextGolden, IsRightCode) {
  const auto made = program();
  ASSERT_NE(made, nullptr);
  const auto expected = reference_outputs(network());
  EXPECT_EQ(difference_of(native_outputs(*made, network().inputs), expected), "");
  const std::string missing = cli::status_of(made->isa).missing;
  if (!missing.empty()) GTEST_SKIP() << made->isa.name << ": " << missing;
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto built = cli::Network::build(program(), cli::Timing::kNone, {}, reporter);
  ASSERT_NE(built, nullptr);
  const auto outputs = built->run({network().inputs}, reporter);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(difference_of(outputs->front(), expected), "");
}

// Bytes of an object that are only read and are no code.
std::int64_t constants_in(const fs::path& object) {
  constexpr std::uint32_t kContent = 1;  // SHT_PROGBITS
  constexpr std::uint64_t kWritten = 1, kLoaded = 2, kCode = 4;
  const std::string bytes = text_of(object);
  std::int64_t sum = 0;
  for (const cli::ElfSection& section : cli::read_elf(bytes).sections) {
    const bool constant = (section.flags & (kWritten | kLoaded | kCode)) == kLoaded;
    if (section.type == kContent && constant) sum += static_cast<std::int64_t>(section.size);
  }
  return sum;
}

TEST_P(TextGolden, FlashBytesAreWhatTheObjectHoldsWithItsPadding) {
  // Targets: one that this machine builds, one whose flash is scarce, and the golden's own.
  const std::vector<std::string> targets = {"scalar", "cortex-m4", std::string(GetParam().target)};
  for (const std::string& target : targets) {
    SCOPED_TRACE(target);
    auto made = compiled(network(), target, RequantizeMode::kAuto);
    ASSERT_NE(made, nullptr);
    if (!cli::status_of(made->isa).missing.empty()) continue;
    const std::int64_t stated = constant_bytes(*made);
    const std::int64_t alignment = constant_alignment(*made);
    cli::Reporter reporter(cli::Verbosity::kQuiet);
    const auto built = cli::Network::build(std::move(made), cli::Timing::kNone, {}, reporter);
    ASSERT_NE(built, nullptr);
    std::int64_t held = 0;
    for (const fs::path& object : built->objects()) {
      if (object.filename().string().find("_weights_") != std::string::npos)
        held += constants_in(object);
    }
    EXPECT_GT(held, 0);
    EXPECT_LE(held, stated);
    EXPECT_GT(held, stated - alignment) << "only what follows the last array may be missing";
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, TextGolden,
                         testing::Values(pooled_convolution(), residual_block(), classifier(),
                                         separable_convolution()),
                         [](const auto& instance) { return instance.param.network.name; });

}  // namespace
}  // namespace etch
