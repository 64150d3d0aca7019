// See recorded_cases.h.
#include "tests/support/recorded_cases.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/tensor_data.h"
#include "tests/support/engines.h"

namespace etch {

namespace {
// Reads the blocks of cases.bin one after the other.
class Blocks {
 public:
  explicit Blocks(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  std::string next() {
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < 4 && at_ + i < bytes_.size(); ++i)
      size |= std::uint32_t{static_cast<std::uint8_t>(bytes_[at_ + i])} << (8 * i);
    EXPECT_LE(at_ + 4 + size, bytes_.size()) << "cases.bin is too short";
    if (at_ + 4 + size > bytes_.size()) return {};
    std::string out = bytes_.substr(at_ + 4, size);
    at_ += 4 + size;
    return out;
  }

  Tensor next_tensor() {
    onnx::TensorProto proto;
    Sink sink;
    EXPECT_TRUE(proto.ParseFromString(next()));
    const std::optional<Tensor> tensor = decode_tensor(proto, Limits{}, "", sink);
    EXPECT_TRUE(tensor);
    return tensor.value_or(Tensor());
  }

  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};
}  // namespace

std::string difference_from_recorded(const Tensor& got, const Tensor& recorded) {
  if (got.dtype() != recorded.dtype() || got.shape() != recorded.shape()) {
    return cat("got ", name_of(got.dtype()), to_string(got.shape()), ", recorded ",
               name_of(recorded.dtype()), to_string(recorded.shape()));
  }
  if (got.dtype() != DType::kF32) return difference_of({got}, {recorded});
  float largest = 1;
  for (std::int64_t i = 0; i < recorded.size(); ++i)
    largest = std::max(largest, std::fabs(recorded.real(i)));
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const float e = recorded.real(i);
    const bool close = std::fabs(got.real(i) - e) <= 1e-5F * largest;
    if (!close && !(std::isnan(e) && std::isnan(got.real(i))))
      return cat("element ", i, ": got ", decimal(got.real(i)), ", recorded ", decimal(e));
  }
  return "";
}

std::vector<RecordedCase> read_recorded_cases(const std::filesystem::path& folder) {
  std::vector<RecordedCase> out;
  Blocks blocks(folder / "cases.bin");
  std::ifstream list(folder / "cases.tsv");
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    RecordedCase each;
    std::string inputs;
    std::getline(fields, each.model.name, '\t');
    std::getline(fields, inputs, '\t');
    std::getline(fields, each.source, '\t');
    std::getline(fields, each.deviation, '\t');
    each.model.model = blocks.next();
    const std::size_t colon = inputs.find(':');
    const int outputs = colon == std::string::npos ? 1 : std::stoi(inputs.substr(colon + 1));
    for (int i = 0; i < std::stoi(inputs); ++i) each.model.inputs.push_back(blocks.next_tensor());
    for (int i = 0; i < outputs; ++i) each.outputs.push_back(blocks.next_tensor());
    out.push_back(std::move(each));
  }
  EXPECT_TRUE(blocks.at_end());
  EXPECT_FALSE(out.empty()) << "nothing recorded in " << folder;
  return out;
}

}  // namespace etch
