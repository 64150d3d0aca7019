// Calls of a step that multiplies two run-time matrices, with what each has to leave: packed into
// jobs for the harness, and compared. Trials (trials.h) are the same of layers with weights.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/prove/product.h"

namespace etch::cli {

// Values of the model, row-major, batches first.
struct Matrices {
  std::vector<int> a, b;  // values
  int a_zero = 0, b_zero = 0;
  std::vector<std::uint32_t> shift;  // what is added to the bias of each channel; empty: nothing
};

struct BytePlace {
  int buffer = -1;
  std::int64_t offset = 0;
  bool flipped = false;
};

// Operands of the step, and bytes from their starts to every element.
struct ProductPlaces {
  int a = -1, b = -1, y = -1;  // operands; no b: weights
  // Those known at run time.
  std::optional<BytePlace> a_zero_point, b_zero_point;
  std::vector<std::int64_t> in_a, in_b, in_y;
};

// Bytes from the operand's start to every element, row-major.
std::vector<std::int64_t> row_major_places(const View& view);

// Operands and zero points known at run time; no places of elements yet. Nothing, with the reason
// in `why`, where the step has others than the product.
std::optional<ProductPlaces> operands_of(const ProductSubject& subject, std::string& why);
// Nothing, with the reason in `why`, where the step's tensors are not those of the product.
std::optional<ProductPlaces> places_of(const ProductSubject& subject, std::string& why);

class ProductCalls {
 public:
  // What the results have to be, in the order of the places of y; null: by the product's geometry.
  using Definition = std::function<std::vector<std::int32_t>(const Matrices&, float factor)>;
  ProductCalls(const ProductSubject& subject, const ProductPlaces& places,
               const ProofRunner& runner, Reporter& reporter, Definition definition = {});

  // A factor of 0 stands for the layer's own; calls with it come first.
  void add(const Matrices& inputs, float factor);
  // Makes the calls that are left.
  PhaseResult conclude(std::string name, std::int64_t done, std::int64_t possible);

 private:
  int bytes_of_result() const { return static_cast<int>(bytes_of(view(places_.y).dtype)); }
  const View& view(int operand) const {
    return (*subject_.views->find(*subject_.step))[static_cast<std::size_t>(operand)];
  }
  void send_images(const Matrices& inputs);
  void set_factor(float factor);
  void send_shift(const std::vector<std::uint32_t>& shift);
  std::vector<std::int32_t> results_of(const Matrices& inputs, float factor) const;
  void flush();
  std::int32_t read(const char* bytes) const;
  void compare(const std::vector<std::int32_t>& expected, const char* bytes);

  const ProductSubject& subject_;
  const ProductPlaces& places_;
  const ProofRunner& runner_;
  Reporter& reporter_;
  const Definition definition_;
  std::int64_t span_ = 0;
  JobList jobs_;
  std::size_t job_bytes_ = 0;
  std::vector<std::uint32_t> sent_shift_;  // empty: nothing
  std::vector<int> sent_a_;                // of a step that is called alone; empty: nothing
  std::vector<std::vector<std::int32_t>> expected_;
  std::int64_t calls_ = 0;
  Mismatch mismatch_;
  bool failed_ = false;
};

}  // namespace etch::cli
