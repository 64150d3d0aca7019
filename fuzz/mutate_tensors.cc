// Mutations of tensors, and the random numbers that they take; see mutations.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fuzz/mutations.h"

namespace etch::fuzz {

namespace {

constexpr std::int64_t kMostElements = 4096;

std::int64_t count_of(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    if (size < 0 || size > kMostElements) return -1;
    count *= size;
    if (count > kMostElements) return -1;
  }
  return count;
}

Dims dims_of(const onnx::TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

void set_dims(onnx::TensorProto& tensor, const Dims& dims) {
  tensor.clear_dims();
  for (const std::int64_t size : dims) tensor.add_dims(size);
}

void clear_data(onnx::TensorProto& tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_double_data();
  tensor.clear_string_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.clear_segment();
}

std::size_t raw_bytes(int data_type, std::int64_t count) {
  const int bytes = bytes_of(data_type);
  const auto elements = static_cast<std::size_t>(count);
  return bytes == 0 ? (elements + 1) / 2 : elements * static_cast<std::size_t>(bytes);
}

template <class T>
void append(std::string& raw, T item) {
  char bytes[sizeof item];
  std::memcpy(bytes, &item, sizeof item);
  raw.append(bytes, sizeof item);
}

std::string random_element(int data_type, Random& random) {
  std::string raw;
  switch (data_type) {
    case kFloat:
      append(raw, random.real());
      break;
    case 11:
      append(raw, static_cast<double>(random.real()));
      break;
    case kInt32:
      append(raw, static_cast<std::int32_t>(random.integer()));
      break;
    case kInt64:
      append(raw, random.integer());
      break;
    case 9:
      append(raw, static_cast<char>(random.below(2)));
      break;
    default: {
      const int bytes = std::max(bytes_of(data_type), 1);
      const bool same = random.one_in(2);
      const auto byte = static_cast<char>(random.pick({0, 1, 127, 128, 255, random.below(256)}));
      for (int i = 0; i < bytes; ++i)
        raw.push_back(same ? byte : static_cast<char>(random.below(256)));
    }
  }
  return raw;
}

// One element, or all of them.
void change_elements(onnx::TensorProto& tensor, Random& random) {
  std::string& raw = *tensor.mutable_raw_data();
  const std::string element = random_element(tensor.data_type(), random);
  const std::size_t size = element.size();
  if (raw.size() < size) return;
  if (random.one_in(4)) {
    for (std::size_t at = 0; at + size <= raw.size(); at += size) raw.replace(at, size, element);
    return;
  }
  const auto elements = static_cast<int>(std::min<std::size_t>(raw.size() / size, 1U << 20U));
  raw.replace(static_cast<std::size_t>(random.below(elements)) * size, size, element);
}

// Other sizes with as many elements as they need, old ones repeated.
void change_shape(onnx::TensorProto& tensor, Random& random) {
  Dims dims = dims_of(tensor);
  switch (random.below(4)) {
    case 0:
      if (!dims.empty()) dims.erase(dims.begin() + random.below(static_cast<int>(dims.size())));
      break;
    case 1:
      dims.insert(dims.begin() + random.below(static_cast<int>(dims.size()) + 1),
                  random.one_in(2) ? 1 : random.size());
      break;
    case 2:
      if (dims.size() >= 2)
        std::swap(dims.front(),
                  dims[static_cast<std::size_t>(random.below(static_cast<int>(dims.size())))]);
      break;
    default:
      if (!dims.empty())
        dims[static_cast<std::size_t>(random.below(static_cast<int>(dims.size())))] = random.size();
  }
  const std::int64_t count = count_of(dims);
  if (count < 0) return;
  const std::string old = tensor.raw_data();
  std::string raw(raw_bytes(tensor.data_type(), count), '\1');
  for (std::size_t i = 0; i < raw.size() && !old.empty(); ++i) raw[i] = old[i % old.size()];
  set_dims(tensor, dims);
  clear_data(tensor);
  tensor.set_raw_data(raw);
}

void change_type(onnx::TensorProto& tensor, Random& random) {
  const Dims dims = dims_of(tensor);
  const int type = random.one_in(2) ? random.pick({kUint8, kInt8}) : random.below(24);
  if (count_of(dims) >= 0) fill(tensor, type, dims, random);
  tensor.set_data_type(type);
}

// From raw data to the typed field.
void store_typed(onnx::TensorProto& tensor) {
  const std::string raw = tensor.raw_data();
  const int type = tensor.data_type();
  clear_data(tensor);
  if (type == kFloat) {
    for (std::size_t at = 0; at + 4 <= raw.size(); at += 4) {
      float item = 0;
      std::memcpy(&item, raw.data() + at, 4);
      tensor.add_float_data(item);
    }
  } else if (type == kInt64) {
    for (std::size_t at = 0; at + 8 <= raw.size(); at += 8) {
      std::int64_t item = 0;
      std::memcpy(&item, raw.data() + at, 8);
      tensor.add_int64_data(item);
    }
  } else {
    for (const char byte : raw)
      tensor.add_int32_data(type == kInt8 ? static_cast<signed char>(byte)
                                          : static_cast<unsigned char>(byte));
  }
}

// Something that no correct writer does.
void contradict(onnx::TensorProto& tensor, Random& random) {
  switch (random.below(9)) {
    case 0:
      tensor.add_dims(random.integer());
      break;
    case 1:
      if (tensor.dims_size() > 0)
        tensor.set_dims(random.below(tensor.dims_size()), random.integer());
      break;
    case 2:
      tensor.mutable_raw_data()->resize(static_cast<std::size_t>(random.below(64)));
      break;
    case 3:
      tensor.set_data_type(static_cast<std::int32_t>(random.integer()));
      break;
    case 4:
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      tensor.add_external_data()->set_key("location");
      break;
    case 5:
      tensor.mutable_segment()->set_begin(1);
      break;
    case 6:
      tensor.add_int32_data(static_cast<std::int32_t>(random.integer()));
      break;
    case 7:
      for (int i = random.below(80); i > 0; --i) tensor.add_dims(1);
      break;
    default:
      clear_data(tensor);
  }
}

}  // namespace

std::int64_t Random::integer() {
  if (!one_in(4)) return below(8) - 2;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  switch (below(6)) {
    case 0:
      return below(300);
    case 1:
      return std::int64_t{1} << below(63);
    case 2:
      return -(std::int64_t{1} << below(63));
    case 3:
      return pick<std::int64_t>({kMost, -kMost - 1, kMost - 1, -kMost, 0, -1});
    case 4:
      return pick<std::int64_t>({2147483647, -2147483648LL, 4294967295LL, 65535, 65536, 268435456});
    default:
      return static_cast<std::int64_t>(next());
  }
}

float Random::real() {
  using Limits = std::numeric_limits<float>;
  if (!one_in(4)) return std::ldexp(1.0F + static_cast<float>(below(1000)) / 1000.0F, -below(12));
  switch (below(4)) {
    case 0:
      return std::ldexp(1.0F, below(280) - 150);
    case 1:
      return pick({0.0F, -0.0F, -1.0F, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                   Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min()});
    case 2:
      return static_cast<float>(below(512) - 256);
    default: {
      const auto bits = static_cast<std::uint32_t>(next());
      float out = 0;
      std::memcpy(&out, &bits, sizeof out);
      return out;
    }
  }
}

int bytes_of(int data_type) {
  constexpr int kBytes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2, 1, 1, 1, 1};
  const bool known = data_type >= 0 && data_type < static_cast<int>(std::size(kBytes));
  return known ? kBytes[data_type] : 0;
}

void fill(onnx::TensorProto& tensor, int data_type, const Dims& dims, Random& random) {
  const std::int64_t count = count_of(dims);
  if (count < 0) return;
  const std::size_t bytes = raw_bytes(data_type, count);
  const bool varied = random.one_in(2);
  const std::string first = random_element(data_type, random);
  std::string raw;
  while (raw.size() < bytes) raw += varied ? random_element(data_type, random) : first;
  raw.resize(bytes);
  clear_data(tensor);
  set_dims(tensor, dims);
  tensor.set_data_type(data_type);
  tensor.set_raw_data(raw);
}

void mutate_tensor(onnx::TensorProto& tensor, Random& random) {
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return change_elements(tensor, random);
    case 5:
    case 6:
    case 7:
      return change_shape(tensor, random);
    case 8:
    case 9:
      return change_type(tensor, random);
    case 10:
      return store_typed(tensor);
    default:
      return contradict(tensor, random);
  }
}

}  // namespace etch::fuzz
