// The list of files and parts; see evidence.h.
#include "compiler/emit/evidence/evidence.h"

#include <utility>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/evidence/json_stream.h"
#include "compiler/emit/evidence/parts.h"
#include "compiler/targets/targets.h"

namespace etch {

namespace {

constexpr int kEvidenceFormat = 2;

void add_hashes(JsonStream& json, std::string_view key, const std::vector<OutputFile>& files) {
  json.array(key, [&] {
    for (const OutputFile& file : files) {
      json.object({}, [&] {
        json.member("path", file.path);
        json.member("bytes", static_cast<std::int64_t>(file.content.size()));
        json.member("sha256", sha256_hex(file.content));
      });
    }
  });
}

// Of the network itself or of one variant, whose files have its target in their names.
void add_parts(std::vector<OutputFile>& parts, const EvidenceContext& context,
               const std::string& suffix) {
  parts.push_back({cat("trace", suffix, ".json"), trace_part(context)});
  parts.push_back({cat("requantization", suffix, ".json"), requantization_part(context)});
  parts.push_back({cat("memory", suffix, ".json"), memory_part(context)});
  parts.push_back({cat("accesses", suffix, ".json"), accesses_part(context)});
}

struct Network {
  std::string target, name, suffix;
};

std::string manifest(const Program& program, const EmitOptions& options,
                     const std::vector<OutputFile>& files, const std::vector<OutputFile>& parts,
                     const std::vector<Network>& networks) {
  JsonStream json;
  json.member("generator", "etch");
  json.member("version", ETCH_VERSION);
  json.member("evidence_format", kEvidenceFormat);
  json.member("name", options.name);
  json.member("target", program.isa.name);
  json.member("command_line", command_line({program, options}));
  json.member("model_sha256", program.model_sha256);
  std::vector<std::string> own = {kEvidenceMark};
  for (const OutputFile& part : parts) own.push_back(part.path);
  json.list("files", own);
  json.array("networks", [&] {
    for (const Network& network : networks) {
      json.object({}, [&] {
        json.member("target", network.target);
        json.member("name", network.name);
        json.member("suffix", network.suffix);
      });
    }
  });
  add_hashes(json, "parts", parts);
  add_hashes(json, "generated", files);
  return json.finish();
}

}  // namespace

std::vector<OutputFile> evidence_files(const Program& program, const EmitOptions& options,
                                       const std::vector<OutputFile>& files,
                                       const CertificateLog& certificates,
                                       const KeptChannelsLog* kept) {
  std::vector<OutputFile> parts;
  std::vector<Network> networks;
  const auto add = [&](const Program& one, std::string name, std::string suffix) {
    add_parts(parts, {one, name, files, certificates, kept}, suffix);
    networks.push_back({std::string(one.isa.name), std::move(name), std::move(suffix)});
  };
  if (program.variants.empty()) add(program, options.name, "");
  for (const Program& variant : program.variants)
    add(variant, variant_name(options.name, variant.isa),
        cat("_", folder_of_target(variant.isa.name)));
  std::vector<OutputFile> out = {
      {kEvidenceMark, manifest(program, options, files, parts, networks)}};
  for (OutputFile& part : parts) out.push_back(std::move(part));
  return out;
}

}  // namespace etch
