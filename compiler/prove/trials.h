// Calls of one step with what each has to leave: packed into jobs for the harness, and compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/view.h"
#include "compiler/prove/layer.h"
#include "compiler/prove/runner.h"
#include "compiler/prove/words.h"

namespace etch::cli {

// A step and the layer that it has to compute.
struct Subject {
  const Layer* layer = nullptr;
  const Step* step = nullptr;
  int index = 0;  // of the step
  const std::vector<View>* views = nullptr;
  ConstantWords words;
};

// Bytes from the operand's start to every element, as Trial has them.
struct Places {
  std::vector<std::int64_t> x;         // [batch][C][input position]
  std::vector<std::int64_t> residual;  // [batch][output position][M]; empty: there is none
  std::vector<std::int64_t> y;         // the same
  int x_operand = 0, residual_operand = -1, y_operand = 0;
};
enum class Innermost { kPositions, kChannels };

// The places of [batch][channel][position], or of [batch][position][channel].
std::vector<std::int64_t> element_places(const View& view, Innermost innermost);

Shape input_shape(const Layer& layer);
Shape output_shape(const Layer& layer);

// Null, with the reason, where the step's tensors are not those of the layer.
std::optional<Places> places_of(const Subject& subject, std::string& why);

// What is different in one call from the inputs and constants that are set.
struct Trial {
  struct Byte {
    std::int64_t element = 0;  // of x, in the order of Places
    std::uint8_t value = 0;
  };
  std::vector<Byte> inputs;
  std::vector<std::int16_t> expected;  // of every element of y; -1: anything
};

struct Mismatch {
  std::int64_t count = 0;  // of bytes
  std::string first;       // where, and what was there instead of what
};

class Trials {
 public:
  Trials(const Subject& subject, const Places& places, const ProofRunner& runner,
         Reporter& reporter);

  // From now on: x, whole, as stored; the residual; what is added to the bias of each channel;
  // one factor for all channels, which cannot be undone (without floats only_factor of the words).
  void set_input(const std::vector<std::uint8_t>& x);
  void set_residual(const std::vector<std::uint8_t>& residual);
  void set_shift(std::vector<std::uint32_t> shift) { shift_ = std::move(shift); }
  void set_factor(float factor) { factor_ = factor; }

  void add(Trial trial);
  // Makes the calls that are left. False after an error or where something differed.
  bool finish();

  std::int64_t calls() const { return calls_; }
  const Mismatch& mismatch() const { return mismatch_; }
  bool failed() const { return failed_; }

 private:
  void begin();
  void send_shift();
  void send_image(int operand, const std::vector<std::uint8_t>& bytes);
  std::vector<std::uint8_t> whole_buffer(int operand, const std::vector<std::int64_t>& places,
                                         const std::vector<std::uint8_t>& elements) const;
  void flush();
  void compare(const std::vector<std::int16_t>& expected, const char* bytes);

  const Subject& subject_;
  const Places& places_;
  const ProofRunner& runner_;
  Reporter& reporter_;
  std::int64_t span_ = 0;                   // bytes of y that are read back
  std::vector<std::uint8_t> x_, residual_;  // whole buffers
  std::vector<std::uint32_t> shift_, sent_shift_;
  std::optional<float> factor_;
  bool images_sent_ = false;
  JobList jobs_;
  std::size_t job_bytes_ = 0;
  std::vector<std::vector<std::int16_t>> expected_;
  std::int64_t calls_ = 0;
  Mismatch mismatch_;
  bool failed_ = false;
};

}  // namespace etch::cli
