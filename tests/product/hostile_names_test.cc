// No text of the model reaches the code but names that shown_name() and is_usable_parameter() let
// through. Every name and every other text in a model is replaced by hostile ones; then each
// generated file must be that of the model with names that are never shown, except for the model's
// hash, harmless names of layers and ports in comments and strings, and the two reports, which may
// show names: as text, never as markup. What is printed about such a model must be printable ASCII,
// one line each, of bounded length.
#include "tests/support/hostile_names.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/package/package.h"
#include "compiler/host/harness.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Files = std::map<std::string, std::string>;

const fs::path kSource = source_dir();
const fs::path kCorpus = kSource / "../shared/corpus/ok";

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Names with a character that no code shows.
const HostileFamily kNeverShown = {"never shown", "?", "?"};

// The code without names in the two places that may show harmless ones.
std::string without_shown_names(const std::string& code) {
  static const std::regex kLayer(
      "(// Layer: [A-Za-z0-9]+) [/_]?[A-Za-z][A-Za-z0-9_.:/-]{0,43}( \\(node [0-9]+\\))\n");
  static const std::regex kPort(
      "(char k(In|Out)put[0-9]+Name\\[\\] = )\"[/_]?[A-Za-z][A-Za-z0-9_.:/-]{0,43}\";  //");
  return std::regex_replace(std::regex_replace(code, kLayer, "$1$2\n"), kPort, "$1\"\";  //");
}

// With the names that run() has for ports without a usable name.
std::string without_parameters(std::string code, const Program& program) {
  const std::vector<std::string> names = port_parameters(program);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_input = i < program.inputs.size();
    const Port& port = is_input ? program.inputs[i] : program.outputs[i - program.inputs.size()];
    if (names[i] == port.identifier) continue;
    const std::regex place(cat("([*( ])", names[i], "([,)])"));
    code = std::regex_replace(code, place, cat("$1", port.identifier, "$2"));
  }
  return code;
}

bool is_code(const std::string& path) {
  return path.ends_with(".h") || path.ends_with(".cc") || path.ends_with(".cpp");
}

// ---- what comes out ----

enum class Form { kFiles, kPackage, kSingleFile };

// All files of a network in one form, the harness of `etch check` among them, without the hash.
Files files_of(std::string_view model, const std::string& target, Form form, Sink& sink) {
  CompileOptions options;
  options.target = target;
  const auto program = compile(model, options, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  if (program == nullptr) return {};
  EmitOptions emitted;
  emitted.name = "net";
  emitted.profile = form == Form::kFiles && program->variants.empty();
  if (form == Form::kSingleFile) emitted.layout = FileLayout::kSingleFile;
  std::vector<PackageForm> forms;
  if (form == Form::kPackage) {
    emitted.weights_section = ".flash";
    for (const PackageFormFacts& facts : package_forms()) {
      if (why_not(facts.form, *program, emitted).empty()) forms.push_back(facts.form);
    }
  }
  std::vector<OutputFile> all =
      form == Form::kPackage ? emit_package(*program, emitted, forms) : emit(*program, emitted);
  if (emitted.profile) {
    for (OutputFile& file : cli::harness_files(*program, "net", cli::Timing::kSteps)) {
      all.push_back(std::move(file));
    }
  }
  Files out;
  for (OutputFile& file : all) {
    const std::string& hash = program->model_sha256;
    for (std::size_t at = 0; (at = file.content.find(hash, at)) != std::string::npos;) {
      file.content.replace(at, hash.size(), "HASH");
    }
    const bool named = is_code(file.path) && file.path.find("etch/") == std::string::npos &&
                       file.path.find("weights") == std::string::npos;
    if (named) file.content = without_shown_names(file.content);
    const bool has_run = named && file.path.find("_steps") == std::string::npos;
    if (has_run) file.content = without_parameters(file.content, *program);
    out[file.path] = std::move(file.content);
  }
  return out;
}

// The same JSON except for texts, which must be short and printable, under keys that may show
// names.
void expect_same_but_names(const Json& clean, const Json& other, const std::string& where) {
  static const std::set<std::string> kShown = {"name", "producer", "origin", "label",  "why",
                                               "what", "facts",    "held",   "tensor", "parameter"};
  ASSERT_EQ(clean.type(), other.type()) << where;
  if (other.is_structured()) {
    ASSERT_EQ(clean.size(), other.size()) << where;
    for (auto a = clean.begin(), b = other.begin(); a != clean.end(); ++a, ++b) {
      if (clean.is_object()) {
        ASSERT_EQ(a.key(), b.key()) << where;
      }
      expect_same_but_names(*a, *b, clean.is_object() ? a.key() : where);
    }
  } else if (clean != other) {
    ASSERT_TRUE(kShown.count(where)) << where << ": " << clean << " and " << other;
    ASSERT_TRUE(is_printable(other.get<std::string>())) << other;
    ASSERT_LT(other.get<std::string>().size(), 400U) << other;
  }
}

// The tags of an HTML file with the names of their attributes, in order. Texts and values of
// attributes are left out, but checked to be none that a browser could take for markup.
std::string markup_of(const std::string& html) {
  std::string out;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    bool quoted = false;
    for (; at < html.size() && (quoted || html[at] != '>'); ++at) {
      if (html[at] == '"') quoted = !quoted;
      if (quoted) {
        EXPECT_NE(html[at], '<') << html.substr(at, 60);
      } else {
        out += html[at];
      }
    }
    out += ">\n";
    EXPECT_LT(at, html.size());
  }
  for (const char c : html) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  return out;
}

void expect_same(const Files& clean, const Files& other, const std::string& what) {
  ASSERT_EQ(clean.size(), other.size()) << what;
  for (const auto& [path, text] : clean) {
    ASSERT_TRUE(other.count(path)) << what << ": " << path;
    const std::string& actual = other.at(path);
    SCOPED_TRACE(cat(what, ": ", path));
    if (path == "report.json") {
      ASSERT_NO_FATAL_FAILURE(expect_same_but_names(Json::parse(text), Json::parse(actual), ""));
    } else if (path == "report.html") {
      EXPECT_TRUE(markup_of(text) == markup_of(actual));
    } else {
      EXPECT_TRUE(text == actual);
    }
  }
}

void expect_messages(const Sink& sink, const std::string& what) {
  for (const Diagnostic& diagnostic : sink.sorted()) {
    const std::string line = format(diagnostic, "FILE");
    EXPECT_TRUE(is_printable(line)) << what << ": " << line;
    EXPECT_LT(line.size(), 1000U) << what << ": " << line;
  }
}

// ---- tests ----

TEST(HostileNames, LeaveEveryGeneratedFileAsItIs) {
  const std::string clean = hostile(small_network(), kNeverShown);
  const std::pair<const char*, Form> kinds[] = {{"scalar", Form::kFiles},
                                                {"avx512_vnni", Form::kPackage},
                                                {"cortex-m4", Form::kPackage},
                                                {"avx2", Form::kSingleFile}};
  std::vector<std::pair<std::string, std::string>> models = {{"mixed", hostile(clean)}};
  for (const HostileFamily& family : hostile_families()) {
    models.emplace_back(family.what, hostile(clean, family));
  }
  for (const auto& [target, form] : kinds) {
    Sink sink;
    const Files expected = files_of(clean, target, form, sink);
    ASSERT_GE(expected.size(), 5U);
    for (const auto& [what, model] : models) {
      Sink messages;
      const Files files = files_of(model, target, form, messages);
      expect_same(expected, files, cat(target, ", ", what));
      EXPECT_NE(expected.at("report.json"), files.at("report.json"));  // it shows other names
      expect_messages(messages, what);
    }
  }
}

TEST(HostileNames, OfNodesMayBeMissingOrTheSame) {
  const std::string clean = hostile(small_network(), kNeverShown);
  Sink sink;
  const Files expected = files_of(clean, "scalar", Form::kFiles, sink);
  for (const char* name : {"", "same", "*/"}) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(clean));
    for (auto& node : *model.mutable_graph()->mutable_node()) node.set_name(name);
    expect_same(expected, files_of(model.SerializeAsString(), "scalar", Form::kFiles, sink), name);
  }
}

// A network of many layers, for a target of several.
TEST(HostileNames, LeaveARealNetworkAsItIs) {
  const std::string clean = hostile(contents(kSource / "examples/digits/model.onnx"), kNeverShown);
  Sink sink;
  // Targets: one of several variants, and the one with the most kinds of assembly.
  for (const char* target : {"x86-64-multi", "cortex-m55"}) {
    const Files expected = files_of(clean, target, Form::kFiles, sink);
    expect_same(expected, files_of(hostile(clean), target, Form::kFiles, sink), target);
  }
}

TEST(HostileNames, OfTheCorpusLeaveItsCarrierAsItIs) {
  if (!fs::exists(kCorpus)) GTEST_SKIP() << "no ../shared/corpus";
  Sink sink;
  const std::string clean =
      hostile(contents(kCorpus / "001_carrier_qlinearconv.onnx"), kNeverShown);
  const Files expected = files_of(clean, "scalar", Form::kFiles, sink);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    const std::string name = entry.path().filename().string();
    const bool is_carrier = name.find("names_") == 4 || name.find("docstring") != std::string::npos;
    if (!is_carrier) continue;  // another network
    expect_same(expected, files_of(contents(entry.path()), "scalar", Form::kFiles, sink), name);
    ++files;
  }
  EXPECT_GE(files, 14);
  expect_messages(sink, "corpus");
}

// Every place of a text in a refused model that a message can show.
TEST(HostileNames, AreHarmlessInDiagnostics) {
  for (const HostileFamily& family : hostile_families()) {
    const std::string text = cat(family.before, family.after);
    const auto refused = [&](const std::function<void(onnx::ModelProto&)>& spoil) {
      onnx::ModelProto model;
      ASSERT_TRUE(model.ParseFromString(hostile(small_network(), family)));
      spoil(model);
      Sink sink;
      CompileOptions options;
      options.target = "scalar";
      EXPECT_EQ(compile(model.SerializeAsString(), options, sink), nullptr) << family.what;
      EXPECT_TRUE(sink.has_errors());
      expect_messages(sink, family.what);
    };
    refused([&](auto& model) { model.mutable_graph()->mutable_node(1)->set_op_type(text); });
    refused([&](auto& model) { model.mutable_graph()->mutable_node(1)->set_domain(text); });
    refused([&](auto& model) {
      auto& attribute = *model.mutable_graph()->mutable_node(1)->add_attribute();
      attribute.set_name(text);
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s(text);
    });
    refused([&](auto& model) {
      auto& attribute = *model.mutable_graph()->mutable_node(1)->add_attribute();
      attribute.set_name("auto_pad");
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s(text);
    });
    refused([&](auto& model) { model.mutable_graph()->mutable_node(1)->set_input(0, text); });
    refused([&](auto& model) { model.mutable_graph()->mutable_node(1)->set_input(1, text); });
    refused([&](auto& model) {  // the same name twice
      *model.mutable_graph()->add_initializer() = model.graph().initializer(0);
    });
    refused([&](auto& model) {
      auto& tensor = *model.mutable_graph()->mutable_initializer(0);
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      auto& place = *tensor.add_external_data();
      place.set_key("location");
      place.set_value(text);
    });
    refused([&](auto& model) {
      model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
          8);
    });
  }
}

}  // namespace
}  // namespace etch
