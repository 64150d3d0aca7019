// The mutator of the structured fuzzing programs: reads an ONNX model, changes the graph in a way
// that often leaves it valid, and writes it back. What plain byte changes hardly ever do to a
// protobuf (0.06 % of them are still a graph), this does nearly always.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace etch::fuzz {

// In all names that the mutator makes up when it is after text in generated code.
inline constexpr std::string_view kHostileMark = "Qz9x";

// To be called for models that the compiler has accepted: half of all mutations begin with one of
// the latest of them. libFuzzer's corpus fills with models that are refused for more and more
// reasons, and what is refused at the first node says nothing about the second.
void remember_accepted(std::string_view model);

// LLVMFuzzerCustomMutator: changes the model in `data` in place; returns its new size.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

// LLVMFuzzerCustomCrossOver: the first model with the second one's nodes after some of its values;
// 0 if there is no such thing.
std::size_t cross_over(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
                       std::span<std::uint8_t> out, unsigned seed);

}  // namespace etch::fuzz
