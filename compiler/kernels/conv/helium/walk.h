// The way of a tile's pointers over what its pixels multiply, 16 bytes of K after 16 bytes: loads
// with offsets as far as these reach, additions where they do not, loops where it would grow long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/kernels/conv/thumb.h"
#include "runtime/etch_mve.h"

namespace etch {

class MveWalk {
 public:
  struct Vector {
    std::int64_t offset = 0;  // of pixel 0
    int bytes = 16;           // that count
    bool first = false;       // of the walk, and not in a loop
    bool looped = false;
  };

  // r1 points to x when the walk starts; with more pixels apart, r7 (2 pointers) or r7, r9 and r11
  // (4) follow. `words`: all offsets are multiples of 4.
  MveWalk(int pixels, std::int64_t x_step, bool words, const std::vector<rt::MvePiece>& pieces);

  int pointers() const { return pointers_; }
  int bytes() const { return bytes_; }  // of K
  int spelled_out() const;              // vectors in the text of one walk
  void describe(Thumb& t) const;        // as a comment
  void start(Thumb& t) const;           // sets the other pointers; spoils r0

  // Calls body for every vector in the text; r5 counts. Afterwards pointers are where they were.
  // No vector is `first` if the walk starts with a loop: then `before` is called.
  void over(Thumb& t, const std::function<void()>& before,
            const std::function<void(const Vector&)>& body);
  void load(Thumb& t, const std::string& q, int pixel, const Vector& at) const;

 private:
  struct Run {
    std::int64_t offset = 0;
    int repeat = 1;
    std::int64_t step = 0;
    std::vector<int> vectors;  // bytes of each
    bool looped = false;
  };

  void add_run(const rt::MvePiece& piece);
  void reach(Thumb& t, std::int64_t offset);
  void move(Thumb& t, std::int64_t to);
  void run(Thumb& t, const Run& run, const std::function<void(const Vector&)>& body);

  int pixels_;
  std::int64_t x_step_;
  bool words_;
  int pointers_ = 1;
  int bytes_ = 0;
  std::int64_t reach_;   // of a load's offset, both ways
  std::int64_t at_ = 0;  // what the pointers are ahead of the walk's start
  std::vector<Run> runs_;
};

}  // namespace etch
