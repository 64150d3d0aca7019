// What the page calls: the picture and the answers are in the module's memory, and the arena is
// static, so that nothing is allocated.
#include "digits.h"

namespace {
alignas(digits::kArenaAlignment) unsigned char arena[digits::kArenaBytes];
float image[digits::kInput0Elements];
float logits[digits::kOutput0Elements];
}  // namespace

extern "C" {
__attribute__((export_name("image"))) float* image_address() { return image; }
__attribute__((export_name("logits"))) float* logits_address() { return logits; }
__attribute__((export_name("classify"))) void classify() { digits::run(image, logits, arena); }
}
