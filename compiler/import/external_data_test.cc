// Tests of tensor data in other files: what a model may say, what may be opened, and what comes
// out. Each test has a folder `data` that may be read and a file outside that must not be.
#include "compiler/import/external_data.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "compiler/base/descriptor.h"
#include "compiler/base/text.h"
#include "compiler/import/tensor_data.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using Pairs = std::vector<std::pair<std::string, std::string>>;

onnx::TensorProto external(DType dtype, const Shape& dims, const Pairs& pairs) {
  onnx::TensorProto proto;
  proto.set_data_type(onnx_number_of(dtype));
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto size : dims) proto.add_dims(size);
  for (const auto& [key, value] : pairs) {
    auto& pair = *proto.add_external_data();
    pair.set_key(key);
    pair.set_value(value);
  }
  return proto;
}

class ExternalDataFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-external-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(data() / "inner");
    write(root_ / "secret", "SECRET");
    write(data() / "w.bin", "abcdefgh");
    write(data() / "inner" / "v.bin", "ABCD");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path data() const { return root_ / "data"; }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  // The bytes as text, or the error.
  std::string read(const Pairs& pairs, std::int64_t count = 4, const Limits& limits = {}) {
    return decode(external(DType::kU8, {count}, pairs), limits);
  }

  std::string decode(const onnx::TensorProto& proto, const Limits& limits = {}) {
    Sink sink;
    ExternalData files(data().string(), limits);
    const auto tensor = decode_tensor(proto, limits, "here", sink, &files);
    EXPECT_NE(tensor.has_value(), sink.has_errors());
    if (!tensor) return errors_of(sink);
    EXPECT_GT(files.distinct_bytes(), 0);
    EXPECT_EQ(files.digest().size(), 64U);
    const auto bytes = tensor->bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  static std::string error(const std::string& what) {
    return cat("model: error[E-EXTDATA]: here: external data", what, "\n");
  }

  fs::path root_;
};

TEST_F(ExternalDataFiles, AreReadAtTheirOffset) {
  EXPECT_EQ(read({{"location", "w.bin"}}), "abcd");
  EXPECT_EQ(read({{"location", "w.bin"}, {"offset", "4"}, {"length", "4"}}), "efgh");
  EXPECT_EQ(read({{"location", "inner/v.bin"}, {"offset", "0"}}), "ABCD");
  EXPECT_EQ(read({{"location", "w.bin"}, {"checksum", "whatever"}}), "abcd");
}

TEST_F(ExternalDataFiles, HoldFourBitElementsPacked) {
  EXPECT_EQ(decode(external(DType::kU4, {3}, {{"location", "w.bin"}})),
            std::string("\x01\x06\x02", 3));  // "ab" is 0x61 0x62
}

TEST_F(ExternalDataFiles, HoldBoolsThatAreOneOrZero) {
  EXPECT_EQ(decode(external(DType::kBool, {2}, {{"location", "w.bin"}})),
            "model: error[E-TENSOR]: here: has a bool that is neither 0 nor 1\n");
}

TEST_F(ExternalDataFiles, AreRefusedWithoutAFolder) {
  Sink sink;
  ExternalData none("", {});
  const auto proto = external(DType::kU8, {4}, {{"location", "w.bin"}});
  EXPECT_FALSE(decode_tensor(proto, {}, "here", sink, &none));
  EXPECT_EQ(errors_of(sink), error(" 'w.bin' is not read; --external-data DIR allows files beneath "
                                   "DIR, as a rule the model's folder"));
  Sink again;  // said once for all tensors of a file
  EXPECT_FALSE(decode_tensor(proto, {}, "there", again, &none));
  EXPECT_EQ(errors_of(again), "");
}

TEST_F(ExternalDataFiles, AreRefusedWhereTheFolderIsNone) {
  Sink sink;
  ExternalData gone((root_ / "gone").string(), {});
  const auto proto = external(DType::kU8, {4}, {{"location", "w.bin"}});
  EXPECT_FALSE(decode_tensor(proto, {}, "here", sink, &gone));
  EXPECT_EQ(errors_of(sink), error(" 'w.bin' cannot be read: the folder of --external-data: No "
                                   "such file or directory"));
}

TEST_F(ExternalDataFiles, HaveOneDescription) {
  EXPECT_EQ(read({{"location", "w.bin"}, {"location", "w.bin"}}),
            error(": 'location' is given twice"));
  EXPECT_EQ(read({{"location", "w.bin"}, {"basepath", "/"}}),
            error(": the key 'basepath' is unknown"));
  for (const char* const number : {"12abc", "-1", "", " 1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(read({{"location", "w.bin"}, {"offset", number}}),
              error(cat(": offset must be an integer >= 0, got '", number, "'")));
    EXPECT_EQ(read({{"location", "w.bin"}, {"length", number}}),
              error(cat(": length must be an integer >= 0, got '", number, "'")));
  }
}

TEST_F(ExternalDataFiles, HavePlainRelativeNames) {
  const std::string parts = "has a part '', '.' or '..'";
  const std::map<std::string, std::string> faults = {
      {"", "names no file"},
      {(root_ / "secret").string(), "is not relative"},
      {"..\\secret", "has a backslash"},
      {"../secret", parts},
      {"inner/../../secret", parts},
      {"./w.bin", parts},
      {"inner//v.bin", parts},
      {"inner/", parts},
      {std::string("w.bin\0x", 7), "has a zero byte"}};
  for (const auto& [location, fault] : faults) {
    EXPECT_EQ(read({{"location", location}}),
              error(cat(": location '", printable(location), "' ", fault)));
  }
  const std::string long_name(5000, 'a');
  EXPECT_EQ(read({{"location", long_name}}),
            error(cat(": location '", printable(long_name), "' is longer than 4096 bytes")));
}

TEST_F(ExternalDataFiles, AreNoLinksPipesOrFolders) {
  fs::create_symlink(root_ / "secret", data() / "link");
  fs::create_directory_symlink(root_, data() / "up");
  fs::create_symlink("w.bin", data() / "harmless");
  const std::string link = "is a symbolic link, or beneath one; these are not followed";
  for (const char* const name : {"link", "up/secret", "harmless"}) {
    EXPECT_EQ(read({{"location", name}}), error(cat(" '", name, "' ", link)));
  }
  fs::create_hard_link(root_ / "secret", data() / "hard");
  EXPECT_EQ(read({{"location", "hard"}}), error(" 'hard' has 2 hard links, must have one"));
  ASSERT_EQ(mkfifo((data() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read({{"location", "pipe"}}), error(" 'pipe' is not a regular file"));
  EXPECT_EQ(read({{"location", "inner"}}), error(" 'inner' is not a regular file"));
  EXPECT_EQ(read({{"location", "gone"}}),
            error(" 'gone' cannot be opened: No such file or directory"));
}

TEST_F(ExternalDataFiles, HaveEnoughBytes) {
  EXPECT_EQ(read({{"location", "w.bin"}, {"offset", "5"}}),
            error(" 'w.bin' has 8 bytes, too few for 4 at offset 5"));
  EXPECT_EQ(read({{"location", "w.bin"}, {"offset", "9223372036854775807"}}),
            error(" 'w.bin' has 8 bytes, too few for 4 at offset 9223372036854775807"));
  EXPECT_EQ(read({{"location", "w.bin"}, {"length", "1000000000000000"}}),
            error(" 'w.bin' has the length 1000000000000000, the tensor needs 4"));
  EXPECT_EQ(read({{"location", "w.bin"}, {"length", "3"}}),
            error(" 'w.bin' has the length 3, the tensor needs 4"));
}

TEST_F(ExternalDataFiles, AreBoundedTogether) {
  Limits limits;
  limits.external_bytes = 8;
  EXPECT_EQ(read({{"location", "w.bin"}}, 8, limits), "abcdefgh");
  limits.external_bytes = 7;
  EXPECT_EQ(read({{"location", "w.bin"}}, 8, limits),
            "model: error[E-LIMIT]: here: external data has 8 bytes up to here, at most 7; --limit "
            "external-bytes=N raises this\n");
}

TEST_F(ExternalDataFiles, AreTheOnlyPlaceOfTheData) {
  const std::string both = "model: error[E-EXTDATA]: here: has data here and in another file\n";
  auto proto = external(DType::kU8, {4}, {{"location", "w.bin"}});
  proto.set_raw_data("wxyz");
  EXPECT_EQ(decode(proto), both);
  proto.clear_raw_data();
  proto.add_int32_data(1);
  EXPECT_EQ(decode(proto), both);
  proto.clear_int32_data();
  proto.clear_data_location();
  EXPECT_EQ(decode(proto),
            "model: error[E-EXTDATA]: here: names another file for data that is said to be here\n");
}

TEST_F(ExternalDataFiles, OpenTheSameWithoutOpenat2) {
  fs::create_symlink(root_ / "secret", data() / "link");
  fs::create_directory_symlink(root_, data() / "up");
  const Descriptor folder(::open(data().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::map<std::string, int> expected = {
      {"w.bin", 0},       {"inner/v.bin", 0}, {"link", ELOOP},     {"up/secret", ELOOP},
      {"gone/x", ENOENT}, {"gone", ENOENT},   {"w.bin/x", ENOTDIR}};
  for (const OpenBy how : {OpenBy::kOneCall, OpenBy::kSteps}) {
    for (const auto& [location, error] : expected) {
      const Descriptor file(open_beneath(folder.get(), location, how));
      const int got = file.get() < 0 ? errno : 0;
      // openat() of a link to a folder, which must be a folder, says that it is none.
      const bool same = got == error || (error == ELOOP && got == ENOTDIR);
      EXPECT_TRUE(same) << location << " " << got;
    }
  }
}

TEST_F(ExternalDataFiles, ServeWholeModels) {
  ModelBuilder model;
  model.input("x", DType::kU8, {4}).initializer("w", Tensor::of<std::uint8_t>({4}, {1, 2, 3, 4}));
  model.node("QLinearNothing", {"x", "w"}, {"y"}).output("y");
  auto& w = *model.graph().mutable_initializer(0);
  w = external(DType::kU8, {4}, {{"location", "w.bin"}});
  w.set_name("w");
  Sink sink;
  ImportOptions options;
  options.external_data = data().string();
  const auto graph = import_graph(model, sink, options);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->value(graph->nodes[0].inputs[1]).constant->integer(0), 'a');
  EXPECT_EQ(graph->source_bytes, static_cast<std::int64_t>(model.bytes().size()) + 4);
  EXPECT_EQ(graph->external_digest.size(), 64U);
}

TEST_F(ExternalDataFiles, CountOnceHoweverOftenTheyAreNamed) {
  ModelBuilder model;
  model.input("x", DType::kU8, {8});
  std::vector<std::string> operands = {"x"};
  for (const char* const name : {"a", "b", "c"}) {
    auto& proto = *model.graph().add_initializer();
    proto = external(DType::kU8, {8}, {{"location", "w.bin"}});
    proto.set_name(name);
    operands.emplace_back(name);
  }
  model.node("Concat", operands, {"y"}, {{"axis", std::int64_t{0}}}).output("y");
  Sink sink;
  ImportOptions options;
  options.external_data = data().string();
  const auto graph = import_graph(model, sink, options);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->source_bytes, static_cast<std::int64_t>(model.bytes().size()) + 8);
}

}  // namespace
}  // namespace etch
