// See runner.h.
#include "compiler/prove/runner.h"

#include <algorithm>
#include <chrono>

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/host/build.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/import/file.h"
#include "compiler/text/writer.h"

namespace etch::cli {

namespace {
namespace fs = std::filesystem;

constexpr std::chrono::minutes kTimeout{60};
constexpr std::uintmax_t kMostSourceBytes = 1 << 30;
constexpr char kHarness[] = "prove_harness.h";

bool is_firmware(const Toolchain& toolchain) {
  return toolchain.machine != nullptr && toolchain.machine->kind == Machine::Kind::kFirmware;
}

// Of all steps, in order; one that several steps share is there for each of them.
std::vector<std::string> array_names(const Program& program) {
  std::vector<std::string> out;
  for (const auto& step : program.steps) {
    for (const ConstantArray& array : step->constants)
      out.push_back(cat(array.owner.empty() ? step->called() : array.owner, "_", array.suffix));
  }
  return out;
}

// The most that images of one step take.
std::int64_t store_bytes(const Program& program) {
  std::int64_t most = 64;
  for (const auto& step : program.steps) {
    std::int64_t bytes = 64;
    for (const Operand& operand : step->operands)
      bytes += program.buffers[static_cast<std::size_t>(operand.buffer)].bytes + 8;
    most = std::max(most, bytes);
  }
  return most;
}

void write_call(Writer& writer, const Program& program, const ProofRunner& runner,
                const std::string& stem, std::size_t index) {
  const Step& step = *program.steps[index];
  std::string arguments;
  for (const Operand& operand : step.operands) {
    const HarnessPlace place = runner.place_of(operand.buffer);
    arguments += cat(arguments.empty() ? "" : ", ", "blocks[", place.block, "] + ",
                     place.offset + operand.offset);
  }
  writer.scope(cat("void call_", index, "()"), [&] {
    writer.line(cat("call(&", stem, "::steps::", step.called(), ", ", arguments, ");"));
  });
}

// How a step is called with pointers to bytes.
constexpr char kCall[] =
    "template <class... Parameters, class... Pointers>\n"
    "void call(void (*function)(Parameters...) noexcept, Pointers... pointers) {\n"
    "  function(static_cast<Parameters>(static_cast<void*>(pointers))...);\n"
    "}";

void write_blocks(Writer& writer, const Program& program) {
  std::string blocks;
  const auto add = [&](std::int64_t bytes) {
    const auto number = std::count(blocks.begin(), blocks.end(), ',');
    writer.line(
        cat("alignas(64) unsigned char block_", number, "[", bytes + 2 * kArenaSlack, "];"));
    blocks += cat("block_", number, ", ");
  };
  add(program.arena_bytes);
  for (const auto* ports : {&program.inputs, &program.outputs}) {
    for (const Port& port : *ports) add(element_count(port.shape) * bytes_of(port.dtype));
  }
  writer.line(cat("unsigned char* const blocks[] = {", blocks, "};"));
  writer.line(cat("unsigned char store[", store_bytes(program), "];"));
}

}  // namespace

void JobList::word(std::uint64_t value) {
  for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
}

void JobList::image(int block, std::int64_t place, const std::vector<std::uint8_t>& bytes) {
  for (const std::uint64_t value : {std::uint64_t{1}, static_cast<std::uint64_t>(block),
                                    static_cast<std::uint64_t>(place), bytes.size() + 0UL})
    word(value);
  bytes_.append(bytes.begin(), bytes.end());
  while (bytes_.size() % 4 != 0) bytes_.push_back(0);
}

void JobList::patch(bool add, int array, int index, std::uint32_t value) {
  word(add ? 2 : 3);
  word(static_cast<std::uint64_t>(array));
  word(static_cast<std::uint64_t>(index));
  word(value);
}

void JobList::call(int step, int block, std::int64_t place, std::int64_t bytes,
                   const std::vector<Change>& changes) {
  word(4);
  word(static_cast<std::uint64_t>(step));
  word(static_cast<std::uint64_t>(block));
  word(static_cast<std::uint64_t>(place));
  word(static_cast<std::uint64_t>(bytes));
  word(changes.size());
  for (const Change& change : changes) {
    word(static_cast<std::uint64_t>(change.block));
    word(static_cast<std::uint64_t>(change.place));
    word(change.byte);
  }
}

std::string JobList::take() {
  word(0);
  std::string out;
  out.swap(bytes_);
  return out;
}

HarnessPlace ProofRunner::place_of(int buffer) const {
  const Buffer& b = program_.buffers[static_cast<std::size_t>(buffer)];
  if (b.home == Home::kArena) return {0, b.arena_offset};
  const auto inputs = static_cast<int>(program_.inputs.size());
  return {1 + b.port + (b.home == Home::kOutput ? inputs : 0), 0};
}

std::int64_t ProofRunner::bytes_of_buffer(int buffer) const {
  return program_.buffers[static_cast<std::size_t>(buffer)].bytes;
}

int ProofRunner::array_of(const Step& step, int i) const {
  int index = 0;
  for (const auto& each : program_.steps) {
    if (each.get() == &step) return index + i;
    index += static_cast<int>(each->constants.size());
  }
  return -1;
}

std::string ProofRunner::main_text(const std::string& stem) const {
  Writer writer;
  writer.line("// Calls single steps. Written by etch; see prove_harness.h.");
  if (is_firmware(toolchain_)) writer.line("#define ETCH_PROVE_FIRMWARE");
  writer.line(cat("#include \"", kHarness, "\""));
  writer.line(cat("#include \"", stem, "_steps.h\""));
  writer.line(cat("#include \"", stem, "_weights.h\""));
  writer.line("namespace {");
  write_blocks(writer, program_);
  writer.line(kCall);
  std::string calls, arrays;
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    write_call(writer, program_, *this, stem, i);
    calls += cat("call_", i, ", ");
  }
  const std::vector<std::string> names = array_names(program_);
  for (const std::string& name : names)
    arrays += cat("{", stem, "::steps::", name, ", sizeof ", stem, "::steps::", name, "}, ");
  writer.line(cat("void (*const steps[])() = {", calls, "};"));
  writer.line(cat("const prove::Array arrays[] = {", arrays, "};"));
  writer.line("}  // namespace");
  writer.scope(is_firmware(toolchain_) ? "int main()" : "int main(int, char** argv)", [&] {
    writer.line(cat("const prove::Proof proof{blocks, arrays, ", names.size(),
                    ", steps, store, sizeof store};"));
    writer.line(is_firmware(toolchain_)
                    ? "return prove::main(proof, \"jobs.bin\", \"results.bin\");"
                    : "return prove::main(proof, argv[1], argv[2]);");
  });
  return writer.text();
}

bool ProofRunner::copy_sources(const fs::path& folder, const std::string& stem,
                               std::vector<std::string>& sources, Reporter& reporter) const {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    const fs::path relative = it->path().lexically_relative(folder);
    const std::string extension = relative.extension().string();
    const bool ours = relative.filename().string().starts_with(stem) &&
                      (extension == ".h" || extension == ".cc" || extension == ".S");
    if (!ours && !(extension == ".h" && *relative.begin() == "etch")) continue;
    if (it->file_size(error) > kMostSourceBytes) {
      reporter.io_error(it->path().string(), "is too large for a source");
      return false;
    }
    fs::create_directories((folder_->path() / relative).parent_path(), error);
    fs::copy_file(it->path(), folder_->path() / relative, error);
    if (extension == ".cc" && !error) sources.push_back(relative.string());
  }
  if (error) reporter.io_error(folder.string(), cat("cannot be copied: ", error.message()));
  std::sort(sources.begin(), sources.end());
  return !error;
}

std::unique_ptr<ProofRunner> ProofRunner::build(const Program& program, const fs::path& folder,
                                                const std::string& stem, Reporter& reporter) {
  std::unique_ptr<ProofRunner> runner(new ProofRunner(program));
  std::optional<Toolchain> toolchain = find_toolchain(program.isa, reporter);
  if (!toolchain) return nullptr;
  runner->toolchain_ = std::move(*toolchain);
  runner->folder_ = WorkFolder::make({}, reporter);
  std::vector<std::string> sources;
  if (runner->folder_ == nullptr || !runner->copy_sources(folder, stem, sources, reporter))
    return nullptr;
  std::vector<OutputFile> files;
  if (runner->toolchain_.machine != nullptr) files = machine_files(*runner->toolchain_.machine);
  files.push_back({kHarness, std::string(embedded_file(cat("templates/files/", kHarness)))});
  files.push_back({"prove_main.cc", runner->main_text(stem)});
  if (!write_files(files, runner->folder_->path(), reporter)) return nullptr;
  std::vector<Source> all(sources.begin(), sources.end());
  for (const OutputFile& file : files) {
    if (fs::path(file.path).extension() == ".cc") all.emplace_back(file.path);
  }
  auto built = build_program(runner->folder_->path(), all, "program", runner->toolchain_, reporter);
  if (!built) return nullptr;
  runner->built_ = fs::absolute(built->program);
  return runner;
}

std::optional<std::string> ProofRunner::run(JobList& jobs, std::size_t expected,
                                            Reporter& reporter) const {
  const fs::path results = folder_->path() / "results.bin";
  std::error_code error;
  fs::remove(results, error);
  if (!write_files({{"jobs.bin", jobs.take()}}, folder_->path(), reporter)) return std::nullopt;
  const std::vector<std::string> command =
      command_to_run(toolchain_, built_, {"jobs.bin", "results.bin"});
  const ProcessResult result = run_process(command, kTimeout, folder_->path());
  Sink sink;
  std::optional<std::string> bytes = read_file(results.string(), expected, "", sink);
  if (result.succeeded() && bytes && bytes->size() == expected) return bytes;
  std::string what = cat("calling the steps: ", describe(result), " ", one_line(result.errors));
  if (bytes) what += cat(", ", bytes->size(), " of ", expected, " bytes");
  for (const Diagnostic& each : sink.sorted()) what += cat(", their results: ", each.message);
  reporter.io_error(built_.string(), what);
  return std::nullopt;
}

bool ProofRunner::for_each_result(JobList& jobs, std::size_t calls, std::int64_t span,
                                  const std::function<void(std::size_t, const char*)>& visit,
                                  Reporter& reporter) const {
  const auto bytes = static_cast<std::size_t>(span);
  const std::optional<std::string> results = run(jobs, calls * bytes, reporter);
  for (std::size_t i = 0; results && i < calls; ++i) visit(i, results->data() + i * bytes);
  return results.has_value();
}

}  // namespace etch::cli
