// The vectors of docs/spec/operators, made by tools/spec-vectors from the definitions on those
// pages: the reference functions, the Native stage of every instruction set and compiled code for
// those that this machine runs must give the same elements, and every page must name its vectors.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kPages = fs::path(source_dir()) / "docs/spec/operators";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

float float_of(const Json& value) {
  if (value.is_number()) return value.get<float>();
  if (value == "nan") return std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  return value == "-inf" ? -infinity : infinity;
}

template <class T>
Tensor integers_of(const Json& json) {
  return Tensor::of<T>(json["shape"].get<Shape>(), json["values"].get<std::vector<T>>());
}

Tensor tensor_of(const Json& json) {
  const auto type = json["type"].get<std::string>();
  if (type == "uint8") return integers_of<std::uint8_t>(json);
  if (type == "int8") return integers_of<std::int8_t>(json);
  if (type == "int32") return integers_of<std::int32_t>(json);
  EXPECT_EQ(type, "float");
  std::vector<float> values;
  for (const Json& value : json["values"]) values.push_back(float_of(value));
  return Tensor::of<float>(json["shape"].get<Shape>(), values);
}

Attribute attribute_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return json.get<Ints>();
  return json.get<std::int64_t>();
}

struct SpecVector {
  Case each;
  std::vector<Tensor> outputs;
};

// The first input is known at run time only, the others are constants.
SpecVector read_vector(const Json& file, const Json& json) {
  SpecVector out;
  out.each.name = json["id"].get<std::string>();
  const auto domain = file["domain"].get<std::string>();
  const auto version = file["version"].get<std::int64_t>();
  ModelBuilder model(domain.empty() ? version : 13);
  if (!domain.empty()) model.opset(domain, version);
  std::vector<std::string> inputs, outputs;
  for (const Json& input : json["inputs"]) {
    const Tensor tensor = tensor_of(input);
    inputs.push_back("in" + std::to_string(inputs.size()));
    if (inputs.size() > 1) {
      model.initializer(inputs.back(), tensor);
      continue;
    }
    model.input(inputs.back(), tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()});
    out.each.inputs.push_back(tensor);
  }
  for (const Json& output : json["outputs"]) {
    outputs.push_back("out" + std::to_string(outputs.size()));
    out.outputs.push_back(tensor_of(output));
  }
  std::map<std::string, Attribute> attributes;
  for (const auto& [name, value] : json["attributes"].items()) {
    attributes.emplace(name, attribute_of(value));
  }
  model.node(file["operator"].get<std::string>(), inputs, outputs, attributes, domain);
  for (const std::string& output : outputs) model.output(output);
  out.each.model = model.bytes();
  return out;
}

std::vector<SpecVector> all_vectors() {
  std::vector<SpecVector> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(kPages)) {
    if (entry.path().extension() != ".json") continue;
    const Json file = Json::parse(text_of(entry.path()));
    for (const Json& vector : file["vectors"]) out.push_back(read_vector(file, vector));
  }
  return out;
}

TEST(SpecVectors, EveryPageNamesItsVectors) {
  int pages = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kPages)) {
    if (entry.path().extension() != ".json") continue;
    ++pages;
    const std::string page = text_of(fs::path(entry.path()).replace_extension(".md"));
    const Json file = Json::parse(text_of(entry.path()));  // lives as long as what is read of it
    for (const Json& vector : file["vectors"]) {
      const auto id = vector["id"].get<std::string>();
      EXPECT_NE(page.find(id), std::string::npos) << id;
    }
  }
  EXPECT_EQ(pages, 6);
}

TEST(SpecVectors, ReferenceFunctionsGiveThem) {
  for (const SpecVector& vector : all_vectors()) {
    EXPECT_EQ(difference_of(reference_outputs(vector.each), vector.outputs), "")
        << vector.each.name;
  }
}

struct Compiled {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
};

// Of every vector, in order; the entries refer to `vectors`.
Compiled compile_all(const std::vector<SpecVector>& vectors, const IsaTraits& isa) {
  Compiled out;
  for (const SpecVector& vector : vectors) {
    out.programs.push_back(compiled(vector.each, isa.name));
    if (out.programs.back() == nullptr) return {};
    out.entries.push_back({out.programs.back().get(), &vector.each.inputs});
  }
  return out;
}

TEST(SpecVectors, TheNativeStageOfEveryPlanGivesThem) {
  const std::vector<SpecVector> vectors = all_vectors();
  for (const IsaTraits* isa : plans()) {
    const Compiled all = compile_all(vectors, *isa);
    ASSERT_EQ(all.programs.size(), vectors.size()) << isa->name;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      const std::vector<Tensor> outputs = native_outputs(*all.programs[i], vectors[i].each.inputs);
      EXPECT_EQ(difference_of(outputs, vectors[i].outputs), "")
          << vectors[i].each.name << ", " << isa->name;
    }
  }
}

TEST(SpecVectors, CompiledCodeGivesThem) {
  const std::vector<SpecVector> vectors = all_vectors();
  for (const IsaTraits* isa : all_targets()) {
    if (!why_not_here(*isa).empty()) continue;  // the portable target runs everywhere
    const Compiled all = compile_all(vectors, *isa);
    const auto outputs = run_generated(all.entries, *isa);
    ASSERT_TRUE(outputs) << isa->name;
    ASSERT_EQ(outputs->size(), vectors.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      EXPECT_EQ(difference_of((*outputs)[i], vectors[i].outputs), "")
          << vectors[i].each.name << ", " << isa->name;
    }
  }
}

}  // namespace
}  // namespace etch
