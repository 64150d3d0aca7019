// See walk.h.
#include "compiler/kernels/conv/helium/walk.h"

#include <algorithm>

namespace etch {

namespace {
constexpr int kStraightLine = 12;  // vectors of K without a loop
constexpr int kLongRun = 12;       // vectors of one piece that are spelled out
constexpr int kTogether = 8;       // of longer ones
const char* const kPointers[] = {"r1", "r7", "r9", "r11"};
}  // namespace

MveWalk::MveWalk(int pixels, std::int64_t x_step, bool words,
                 const std::vector<rt::MvePiece>& pieces)
    : pixels_(pixels), x_step_(x_step), words_(words), reach_(words ? 508 : 127) {
  const auto spans = [&](int pointers) {
    const int together = (pixels_ + pointers - 1) / pointers;
    return (together - 1) * x_step_ <= 2 * reach_ - (words_ ? 4 : 1);
  };
  pointers_ = spans(1) ? 1 : (spans(2) ? 2 : 4);
  for (const rt::MvePiece& piece : pieces) {
    bytes_ += piece.repeat * piece.bytes;
    add_run(piece);
  }
  int all = 0;
  for (const Run& run : runs_) all += run.repeat * static_cast<int>(run.vectors.size());
  for (Run& run : runs_) run.looped = run.repeat > 1 && all > kStraightLine;
}

void MveWalk::add_run(const rt::MvePiece& piece) {
  const auto vectors_of = [](int bytes) {
    std::vector<int> out;
    for (int done = 0; done < bytes; done += 16) out.push_back(std::min(16, bytes - done));
    return out;
  };
  if (piece.bytes <= 16 * kLongRun) {
    runs_.push_back({piece.offset, piece.repeat, piece.step, vectors_of(piece.bytes), false});
    return;
  }
  constexpr int kBytes = 16 * kTogether;
  for (int i = 0; i < piece.repeat; ++i) {
    const std::int64_t offset = piece.offset + i * piece.step;
    const int whole = piece.bytes / kBytes;
    runs_.push_back({offset, whole, kBytes, vectors_of(kBytes), false});
    const int rest = piece.bytes % kBytes;
    if (rest > 0) runs_.push_back({offset + whole * kBytes, 1, 0, vectors_of(rest), false});
  }
}

int MveWalk::spelled_out() const {
  int sum = 0;
  for (const Run& run : runs_)
    sum += (run.looped ? 1 : run.repeat) * static_cast<int>(run.vectors.size());
  return sum;
}

void MveWalk::describe(Thumb& t) const {
  const int together = (pixels_ + pointers_ - 1) / pointers_;
  std::string pointers;
  for (int i = 0; i < pointers_ && i * together < pixels_; ++i)
    pointers += cat(i == 0 ? "" : ", ", kPointers[i], ": x from pixel ", i * together, " on");
  t.comment(pointers);
}

void MveWalk::start(Thumb& t) const {
  const int together = (pixels_ + pointers_ - 1) / pointers_;
  for (int i = 1; i < pointers_ && i * together < pixels_; ++i)
    t.add(kPointers[i], "r1", i * together * x_step_, "r0");
}

// Several additions of 12 bits each, because all other registers are in use.
void MveWalk::move(Thumb& t, std::int64_t to) {
  const int together = (pixels_ + pointers_ - 1) / pointers_;
  for (int i = 0; i < pointers_ && i * together < pixels_; ++i) {
    std::int64_t left = to - at_;
    while (left != 0) {
      constexpr std::int64_t kPage = 4096;
      std::int64_t part = std::min<std::int64_t>(left < 0 ? -left : left, 255 * kPage);
      if (part >= kPage) part = part / kPage * kPage;
      t.op(left < 0 ? "sub" : "add", kPointers[i], kPointers[i], Thumb::immediate(part));
      left += left < 0 ? part : -part;
    }
  }
  at_ = to;
}

// Moves the pointers if a load at `offset` of some pixel is out of reach; then as far ahead as
// possible.
void MveWalk::reach(Thumb& t, std::int64_t offset) {
  const int together = (pixels_ + pointers_ - 1) / pointers_;
  const std::int64_t first = offset - at_;
  const std::int64_t last = first + (together - 1) * x_step_;
  if (first >= -reach_ && last <= reach_) return;
  move(t, offset + reach_);
}

void MveWalk::run(Thumb& t, const Run& run, const std::function<void(const Vector&)>& body) {
  const auto once = [&](std::int64_t offset) {
    for (std::size_t v = 0; v < run.vectors.size(); ++v) {
      const std::int64_t at = offset + 16 * static_cast<std::int64_t>(v);
      reach(t, at);
      body({at, run.vectors[v], &run == &runs_.front() && at == run.offset && !run.looped,
            run.looped});
    }
  };
  if (!run.looped) {
    for (int i = 0; i < run.repeat; ++i) once(run.offset + i * run.step);
    return;
  }
  reach(t, run.offset);
  const std::int64_t ahead = at_ - run.offset;
  t.load("r5", run.repeat);
  t.label(3);
  once(run.offset);
  move(t, run.offset + run.step + ahead);
  t.op("subs", "r5", "r5", "#1");
  t.op("bne.w", "3b");
  at_ = run.offset + run.repeat * run.step + ahead;
}

void MveWalk::over(Thumb& t, const std::function<void()>& before,
                   const std::function<void(const Vector&)>& body) {
  at_ = 0;
  if (runs_.front().looped) before();
  for (const Run& each : runs_) run(t, each, body);
  move(t, 0);
}

void MveWalk::load(Thumb& t, const std::string& q, int pixel, const Vector& at) const {
  const int together = (pixels_ + pointers_ - 1) / pointers_;
  const std::int64_t offset = at.offset + pixel % together * x_step_ - at_;
  t.op(words_ ? "vldrw.u32" : "vldrb.u8", q, Thumb::at(kPointers[pixel / together], offset));
}

}  // namespace etch
