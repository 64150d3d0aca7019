// JSON in both directions; see golden_file.h. Files come from version control and may be broken by
// a merge or by hand, so every value is checked and the first fault is reported with its place.
#include "compiler/golden/file.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/text/names.h"

namespace etch::cli {
namespace {

using Json = nlohmann::json;  // sorts keys

constexpr int kFormat = 1;  // of the file

Json to_json(const GoldenBytes& bytes) {
  return {{"bytes", bytes.bytes}, {"sha256", bytes.sha256}};
}

Json to_json(const GoldenStep& step) {
  Json out{{"name", step.name},
           {"summary", step.summary},
           {"code_sha256", step.code_sha256},
           {"constants", to_json(step.constants)}};
  if (step.code_bytes) out["code_bytes"] = *step.code_bytes;
  return out;
}

Json to_json(const GoldenTarget& target) {
  Json out{{"arena_bytes", target.arena_bytes}, {"weight_bytes", target.weight_bytes}};
  if (target.code_bytes) out["code_bytes"] = *target.code_bytes;
  if (target.stack_bytes) out["stack_bytes"] = *target.stack_bytes;
  if (!target.compiler.empty()) out["compiler"] = target.compiler;
  if (!target.not_run.empty()) out["not_run"] = target.not_run;
  out["files"] = Json::object();
  for (const auto& [path, bytes] : target.files) out["files"][path] = to_json(bytes);
  out["steps"] = Json::array();
  for (const GoldenStep& step : target.steps) out["steps"].push_back(to_json(step));
  return out;
}

Json to_json(const GoldenSample& sample) {
  Json out{{"outputs", Json::array()}};
  if (sample.seed) out["seed"] = *sample.seed;
  for (const GoldenOutput& output : sample.outputs) {
    out["outputs"].push_back(
        {{"name", output.name}, {"type", output.type}, {"sha256", output.sha256}});
  }
  return out;
}

// Reads values and remembers the first fault; after it, every value is a default.
class Reader {
 public:
  bool failed() const { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }

  void fail(const std::string& where, const std::string& what) {
    if (!failed()) fault_ = cat(where.empty() ? "the file" : printable(where), ": ", what);
  }

  // The member `key` of an object, or null (a JSON null) if it is not there.
  const Json& find(const Json& object, const std::string& where, const std::string& key) {
    static const Json kNone;
    if (!object.is_object()) {
      fail(where, "is no object");
      return kNone;
    }
    const auto found = object.find(key);
    return found == object.end() ? kNone : *found;
  }

  std::string text(const Json& object, const std::string& where, const std::string& key) {
    const Json& value = find(object, where, key);
    if (value.is_string()) return value.get<std::string>();
    fail(where, cat("'", key, "' is no text"));
    return {};
  }
  std::string optional_text(const Json& object, const std::string& where, const std::string& key) {
    return find(object, where, key).is_null() ? "" : text(object, where, key);
  }

  std::int64_t number(const Json& object, const std::string& where, const std::string& key) {
    const Json& value = find(object, where, key);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= kMost;
    if (fits) return value.get<std::int64_t>();
    fail(where, cat("'", key, "' is no size"));
    return 0;
  }
  std::optional<std::int64_t> optional_number(const Json& object, const std::string& where,
                                              const std::string& key) {
    if (find(object, where, key).is_null()) return std::nullopt;
    return number(object, where, key);
  }
  std::int64_t number_up_to(const Json& object, const std::string& where, const std::string& key,
                            std::int64_t most) {
    const std::int64_t value = number(object, where, key);
    if (value > most) fail(where, cat("'", key, "' is more than ", most));
    return std::min(value, most);
  }

  std::string hash(const Json& object, const std::string& where, const std::string& key) {
    std::string value = text(object, where, key);
    const bool good = value.size() == 64 && std::all_of(value.begin(), value.end(), [](char c) {
                        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                      });
    if (!good) fail(where, cat("'", key, "' is no SHA-256"));
    return value;
  }

  // The elements of an array; none if it is something else.
  const std::vector<Json>& array(const Json& object, const std::string& where,
                                 const std::string& key) {
    static const std::vector<Json> kNone;
    const Json& value = find(object, where, key);
    if (value.is_array()) return value.get_ref<const Json::array_t&>();
    fail(where, cat("'", key, "' is no list"));
    return kNone;
  }
  const Json::object_t& members(const Json& object, const std::string& where,
                                const std::string& key) {
    static const Json::object_t kNone;
    const Json& value = find(object, where, key);
    if (value.is_object()) return value.get_ref<const Json::object_t&>();
    fail(where, cat("'", key, "' is no object"));
    return kNone;
  }

 private:
  std::string fault_;
};

GoldenBytes read_bytes(Reader& reader, const Json& json, const std::string& where) {
  return {reader.number(json, where, "bytes"), reader.hash(json, where, "sha256")};
}

GoldenStep read_step(Reader& reader, const Json& json, const std::string& where) {
  GoldenStep step;
  step.name = reader.text(json, where, "name");
  step.summary = reader.text(json, where, "summary");
  step.code_sha256 = reader.hash(json, where, "code_sha256");
  step.constants =
      read_bytes(reader, reader.find(json, where, "constants"), cat(where, ".constants"));
  step.code_bytes = reader.optional_number(json, where, "code_bytes");
  return step;
}

GoldenTarget read_target(Reader& reader, const Json& json, const std::string& where) {
  GoldenTarget target;
  target.arena_bytes = reader.number(json, where, "arena_bytes");
  target.weight_bytes = reader.number(json, where, "weight_bytes");
  target.code_bytes = reader.optional_number(json, where, "code_bytes");
  target.stack_bytes = reader.optional_number(json, where, "stack_bytes");
  target.compiler = reader.optional_text(json, where, "compiler");
  target.not_run = reader.optional_text(json, where, "not_run");
  for (const auto& [path, bytes] : reader.members(json, where, "files")) {
    target.files[path] = read_bytes(reader, bytes, cat(where, ".files.", path));
  }
  for (const Json& step : reader.array(json, where, "steps")) {
    target.steps.push_back(
        read_step(reader, step, cat(where, ".steps[", target.steps.size(), "]")));
  }
  return target;
}

GoldenSample read_sample(Reader& reader, const Json& json, const std::string& where) {
  GoldenSample sample;
  if (!reader.find(json, where, "seed").is_null()) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    sample.seed = static_cast<std::uint32_t>(reader.number_up_to(json, where, "seed", kMost));
  }
  for (const Json& output : reader.array(json, where, "outputs")) {
    const std::string at = cat(where, ".outputs[", sample.outputs.size(), "]");
    sample.outputs.push_back({reader.text(output, at, "name"), reader.text(output, at, "type"),
                              reader.hash(output, at, "sha256")});
  }
  return sample;
}

void read_all(Reader& reader, const Json& json, Golden& golden) {
  golden.etch_version = reader.text(json, "", "etch_version");
  golden.output_format = static_cast<int>(reader.number_up_to(json, "", "output_format", 1 << 20));
  golden.name = reader.text(json, "", "name");
  if (!is_usable_name(golden.name)) reader.fail("name", "cannot be a name in C++");
  golden.model_sha256 = reader.hash(json, "", "model_sha256");
  for (const Json& word : reader.array(json, "", "options")) {
    if (!word.is_string()) reader.fail("options", "holds something that is no text");
    if (word.is_string()) golden.options.push_back(word.get<std::string>());
  }
  for (const Json& sample : reader.array(json, "", "samples")) {
    if (golden.samples.size() == kMostGoldenSamples) {
      reader.fail("samples", cat("are more than ", kMostGoldenSamples));
      break;
    }
    golden.samples.push_back(
        read_sample(reader, sample, cat("samples[", golden.samples.size(), "]")));
  }
  for (const auto& [name, target] : reader.members(json, "", "targets")) {
    const IsaTraits* isa = find_target(name);
    if (isa == nullptr || isa->name != name) {
      reader.fail("targets", cat("there is no target '", printable(name), "'"));
    }
    golden.targets[name] = read_target(reader, target, cat("targets.", name));
  }
  if (golden.targets.empty()) reader.fail("targets", "there are none");
}

}  // namespace

std::string to_json(const Golden& golden) {
  Json out{{"etch_golden", kFormat},
           {"etch_version", golden.etch_version},
           {"output_format", golden.output_format},
           {"name", golden.name},
           {"model_sha256", golden.model_sha256},
           {"options", golden.options},
           {"samples", Json::array()},
           {"targets", Json::object()}};
  for (const GoldenSample& sample : golden.samples) out["samples"].push_back(to_json(sample));
  for (const auto& [name, target] : golden.targets) out["targets"][name] = to_json(target);
  return out.dump(2, ' ', true) + "\n";
}

std::optional<Golden> parse_golden(std::string_view text, std::string& fault) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    fault = "is no JSON object";
    return std::nullopt;
  }
  Reader reader;
  const std::int64_t format = reader.number(json, "", "etch_golden");
  if (!reader.failed() && format != kFormat) {
    reader.fail("", cat("has format ", format, ", this Etch reads format ", kFormat));
  }
  Golden golden;
  if (!reader.failed()) read_all(reader, json, golden);
  fault = reader.fault();
  if (reader.failed()) return std::nullopt;
  return golden;
}

}  // namespace etch::cli
