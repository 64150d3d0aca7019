// Builds in a work folder and writes the result to its place; see library.h.
#include "compiler/host/library.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/build.h"
#include "compiler/host/file_output.h"
#include "compiler/host/network.h"
#include "compiler/host/toolchain.h"
#include "compiler/host/work_folder.h"
#include "compiler/targets/targets.h"
#include "compiler/text/writer.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr char kLibrary[] = "library.so";

// The functions of the pool, which no exception leaves.
OutputFile pool_file(const std::string& name) {
  Writer writer;
  writer.line("#include \"etch/etch_thread_pool.h\"");
  writer.line("#define POOL_EXPORT extern \"C\" __attribute__((visibility(\"default\")))");
  writer.scope(cat("POOL_EXPORT void* ", name, "_pool_new(int threads) noexcept"), [&] {
    writer.line("try { return new etch::ThreadPool(threads); } catch (...) { return nullptr; }");
  });
  writer.scope(
      cat("POOL_EXPORT const EtchThreads* ", name, "_pool_hook(const void* pool) noexcept"),
      [&] { writer.line("return static_cast<const etch::ThreadPool*>(pool)->hook();"); });
  writer.scope(cat("POOL_EXPORT void ", name, "_pool_delete(void* pool) noexcept"),
               [&] { writer.line("delete static_cast<etch::ThreadPool*>(pool);"); });
  return {cat(name, "_pool.cc"), writer.text()};
}

// What this machine cannot run could be built, but a program that loads it would be killed.
std::optional<Toolchain> library_toolchain(const Program& program, Reporter& reporter) {
  const TargetStatus status = status_of(program.isa);
  if (machine_of(program.isa.name) != nullptr) {
    reporter.io_error(cat("target ", program.isa.name),
                      "is another machine: --library builds for this one");
    return std::nullopt;
  }
  if (!status.cpu_has_it || status.compiler.empty()) {
    reporter.io_error(cat("target ", program.isa.name),
                      status.compiler.empty() ? status.missing : "a CPU that has it is needed");
    return std::nullopt;
  }
  Toolchain toolchain{status.compiler, target_flags(program.isa.name), {"-shared"}, {}};
  toolchain.flags.insert(toolchain.flags.end(), {"-fPIC", "-fvisibility=hidden"});
  if (program.shares > 1) toolchain.flags.emplace_back("-pthread");
  return toolchain;
}

bool put_in_place(const fs::path& built, const fs::path& library, Reporter& reporter) {
  std::ifstream file(built, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file && !bytes.empty()) return write_file(library, bytes, reporter);
  reporter.io_error(built.string(), "cannot be read");
  return false;
}

}  // namespace

bool build_library(const Program& program, const EmitOptions& options, const fs::path& library,
                   Reporter& reporter) {
  const std::optional<Toolchain> toolchain = library_toolchain(program, reporter);
  if (!toolchain) return false;
  std::vector<OutputFile> files = emit(program, options);
  if (program.shares > 1) files.push_back(pool_file(options.name));
  const std::unique_ptr<WorkFolder> folder = WorkFolder::make({}, reporter);
  if (folder == nullptr || !write_files(files, folder->path(), reporter)) return false;
  std::vector<Source> sources;
  for (const OutputFile& file : files) {
    if (fs::path(file.path).extension() == ".cc") sources.push_back({file.path, file.target});
  }
  const std::optional<BuildOutput> built =
      build_program(folder->path(), sources, kLibrary, *toolchain, reporter);
  return built && put_in_place(built->program, library, reporter);
}

}  // namespace etch::cli
