// A thread that repaints the line; see progress.h.
#include "compiler/host/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "compiler/base/text.h"

namespace etch::cli {
namespace {

constexpr std::string_view kWipe = "\r\033[K";  // to the first column, clear to the end of the line

void paint(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

Progress::Progress(std::string task, int total, const Reporter& reporter)
    : task_(std::move(task)), total_(total) {
  if (!reporter.quiet() && isatty(STDERR_FILENO) != 0) {
    painter_ = std::thread([this] { show_until_finished(); });
  }
}

Progress::~Progress() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
  }
  finished_.notify_one();
  painter_.join();
}

void Progress::show_until_finished() {
  std::unique_lock lock(mutex_);
  const auto finished = [this] { return is_finished_; };
  auto next = begin_ + std::chrono::seconds(1);
  bool painted = false;
  while (!finished_.wait_until(lock, next, finished)) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(next - begin_).count();
    const std::string parts = total_ > 0 ? cat(" (", done_.load(), " of ", total_, ")") : "";
    paint(cat(kWipe, "etch: ", task_, parts, ", ", elapsed, " s"));
    painted = true;
    next += std::chrono::seconds(1);
  }
  if (painted) paint(kWipe);
}

}  // namespace etch::cli
