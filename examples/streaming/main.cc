// Listens to the recording frame by frame, as a product would to its microphone: one static arena,
// one State that lives from frame to frame, one call for each. Compares what every frame gives, and
// the state after the last, with ONNX Runtime's, bit for bit; then the same again after reset().
// recording.bin is records of 80 samples and 2 scores, then the state. Exit code 0 only if all is
// equal.
#include <string.h>

#include "console.h"
#include "listener.h"

extern "C" const unsigned char samples_begin[], samples_end[];

namespace {

constexpr size_t kRecordBytes = listener::kInput0Bytes + listener::kOutput0Bytes;
constexpr size_t kKeptBytes = listener::kStateBytes / 2;  // the half that the next frame reads
constexpr uint32_t kFrameMilliseconds = 10;

alignas(listener::kArenaAlignment) unsigned char arena[listener::kArenaBytes];
listener::State state;

struct Result {
  uint32_t frames = 0;
  uint32_t equal = 0;
  bool state_equal = false;
};

Result listen(bool aloud) {
  Result result;
  bool heard = false;
  listener::reset(state);
  const unsigned char* record = samples_begin;
  for (; record + kRecordBytes + kKeptBytes <= samples_end; record += kRecordBytes) {
    int8_t audio[listener::kInput0Elements];
    int8_t scores[listener::kOutput0Elements];
    memcpy(audio, record, sizeof audio);
    listener::run(state, audio, scores, arena);
    if (memcmp(scores, record + sizeof audio, sizeof scores) == 0) ++result.equal;
    const bool hears = scores[1] > scores[0];
    if (aloud && hears && !heard) {
      print("the word, at ");
      print(result.frames * kFrameMilliseconds);
      print(" ms\n");
    }
    heard = hears;
    ++result.frames;
  }
  result.state_equal = memcmp(state.bytes, record, kKeptBytes) == 0;
  return result;
}

bool report(const Result& result) {
  print("frames equal to ONNX Runtime's, bit for bit: ");
  print(result.equal);
  print(" of ");
  print(result.frames);
  print(result.state_equal ? "; the state after them: equal\n"
                           : "; the state after them: differs\n");
  return result.frames != 0 && result.equal == result.frames && result.state_equal;
}

}  // namespace

int main() {
  const bool first = report(listen(true));
  const bool again = report(listen(false));
  print("arena ");
  print(static_cast<uint32_t>(sizeof arena));
  print(" bytes, state ");
  print(static_cast<uint32_t>(sizeof state));
  print(" bytes\n");
  return first && again ? 0 : 4;
}
