// The frame of functions that go through the channels of scratch memory one after the other: what
// they save, where their pointers are, and the loop until the stream ends.
#pragma once

#include <cstdint>

#include "compiler/kernels/conv/helium/epilogue.h"
#include "compiler/kernels/conv/thumb.h"

namespace etch {

// Of (x, stream, y): r1 is x, r3 the stream of `words` words, r9 y, r11 the end of the stream.
// `body` writes what is done for `what`, "a channel", and moves r1, r3 and r9 on.
template <class Body>
void write_channel_loop(Thumb& t, const MveEpilogue& epilogue, std::int64_t words, const char* what,
                        Body body) {
  t.op("push", "{r4-r11, lr}");
  t.op("vpush", "{d8-d15}");
  t.op("mov", "r9", "r2");
  t.op("mov", "r3", "r1");
  t.op("mov", "r1", "r0");
  t.add("r11", "r3", 4 * words, "r0");
  epilogue.load_constants(t);
  t.comment(what);
  t.label(1);
  body();
  t.op("cmp", "r3", "r11");
  t.op("bne.w", "1b");
  t.op("vpop", "{d8-d15}");
  t.op("pop", "{r4-r11, pc}");
}

}  // namespace etch
