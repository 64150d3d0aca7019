// See footprint.h.
#include "compiler/host/footprint.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/host/build.h"
#include "compiler/host/measure.h"
#include "compiler/host/network.h"
#include "compiler/host/object_size.h"
#include "compiler/host/stack_use.h"
#include "compiler/host/toolchain.h"
#include "compiler/host/work_folder.h"
#include "compiler/import/file.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::string content_of(const fs::path& path) {
  Sink ignored;
  return read_file(path.string(), kMostBytes, "", ignored).value_or("");
}

}  // namespace

CallGraph call_graph_of(const Program& program, const std::vector<fs::path>& objects) {
  CallGraph graph;
  for (fs::path object : objects) graph.add(content_of(object.replace_extension(".ci")));
  for (const auto& step : program.steps) {
    for (const AssemblyFunction& function : step->assembly) {
      graph.set_frame(function.name, function.stack);
    }
  }
  return graph;
}

std::optional<Footprint> measure_footprint(const Program& program, Reporter& reporter) {
  const std::optional<Toolchain> toolchain = find_builder(program.isa);
  if (!toolchain) return std::nullopt;
  EmitOptions options;
  options.name = "network";
  const std::vector<OutputFile> files = emit(program, options);
  const std::unique_ptr<WorkFolder> folder = WorkFolder::make({}, reporter);
  if (folder == nullptr || !write_files(files, folder->path(), reporter)) return std::nullopt;
  std::vector<Source> sources;
  for (const OutputFile& file : files) {
    if (fs::path(file.path).extension() == ".cc") sources.emplace_back(file.path, file.target);
  }
  const auto objects = compile_sources(folder->path(), sources, *toolchain, reporter);
  if (!objects) return std::nullopt;
  std::vector<ObjectSize> sizes;
  for (const fs::path& object : *objects) sizes.push_back(size_of_object(content_of(object)));
  const Footprint footprint{code_bytes_of(sizes),
                            call_graph_of(program, *objects).deepest("network_run")};
  return footprint.code_bytes > 0 ? std::optional(footprint) : std::nullopt;
}

}  // namespace etch::cli
