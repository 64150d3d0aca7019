// Transposing by blocks gives what the definition says, for every remainder and on both sides of
// the choice of the inner loop.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/etch_transpose_elements.h"

namespace etch {
namespace {

std::size_t as_index(int i) { return static_cast<std::size_t>(i); }

constexpr int kSizes[] = {1, 2, 3, 4, 7, 8, 9, 16, 23, 64, 65, 130};

std::vector<std::uint8_t> different_bytes(std::size_t n) {
  std::vector<std::uint8_t> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(i * 167 + i / 251);
  return out;
}

TEST(Transpose, BytesOfEveryRowBecomeAColumn) {
  for (const int rows : kSizes) {
    for (const int columns : kSizes) {
      for (const int flip : {0, 128}) {
        // Rows of x are nearer to each other than those of y, or farther apart.
        const int x_row = columns + (flip == 0 ? 3 : 131), y_row = rows + 2;
        const auto x = different_bytes(as_index(rows * x_row));
        std::vector<std::uint8_t> y(as_index(columns * y_row), 77);
        std::vector<std::uint8_t> expected = y;
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < columns; ++j) {
            expected[as_index(j * y_row + i)] =
                static_cast<std::uint8_t>(x[as_index(i * x_row + j)] ^ flip);
          }
        }
        rt::transpose_bytes(x.data(), x_row, y.data(), y_row, rows, columns, flip);
        ASSERT_EQ(y, expected) << rows << " x " << columns;
      }
    }
  }
}

// Pixels of `bytes` bytes, taken apart and put together.
void expect_pixels_and_planes(int bytes, int n, int flip) {
  const int row = n + 5;
  const auto planes = different_bytes(as_index(bytes * row));
  std::vector<std::uint8_t> pixels(as_index(bytes * n)), expected = pixels;
  for (int i = 0; i < bytes * n; ++i) {
    expected[as_index(i)] =
        static_cast<std::uint8_t>(planes[as_index(i % bytes * row + i / bytes)] ^ flip);
  }
  rt::transpose_bytes(planes.data(), row, pixels.data(), bytes, bytes, n, flip);
  ASSERT_EQ(pixels, expected) << n << " of " << bytes;
  std::vector<std::uint8_t> back = planes;
  for (int i = 0; i < bytes * n; ++i) back[as_index(i % bytes * row + i / bytes)] = 0;
  rt::transpose_bytes(pixels.data(), bytes, back.data(), row, n, bytes, flip);
  ASSERT_EQ(back, planes) << n << " of " << bytes;
}

TEST(Transpose, PixelsAreTakenApartAndPutTogether) {
  for (const int n : {1, 15, 16, 17, 48, 65}) {
    for (const int flip : {0, 128}) {
      expect_pixels_and_planes(2, n, flip);
      expect_pixels_and_planes(3, n, flip);
    }
  }
}

using TransposeElements = void (*)(const std::uint8_t*, std::ptrdiff_t, std::uint8_t*,
                                   std::ptrdiff_t, int, int);

// Rows of x have `x_more` bytes more than they need, those of y `y_more`.
void expect_transposed(TransposeElements transpose, int size, int rows, int columns, int x_more,
                       int y_more) {
  const int x_row = size * columns + x_more, y_row = size * rows + y_more;
  const auto x = different_bytes(as_index(rows * x_row));
  std::vector<std::uint8_t> y(as_index(columns * y_row), 77);
  std::vector<std::uint8_t> expected = y;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      std::memcpy(&expected[as_index(j * y_row + size * i)], &x[as_index(i * x_row + size * j)],
                  as_index(size));
    }
  }
  transpose(x.data(), x_row, y.data(), y_row, rows, columns);
  ASSERT_EQ(y, expected) << size << ": " << rows << " x " << columns;
}

TEST(Transpose, ElementsOfEveryRowBecomeAColumn) {
  for (const int rows : kSizes) {
    for (const int columns : kSizes) {
      for (const int x_more : {0, 1, 700}) {
        for (const int y_more : {0, 8}) {
          expect_transposed(rt::transpose_pairs, 2, rows, columns, x_more, y_more);
          expect_transposed(rt::transpose_words, 4, rows, columns, x_more, y_more);
          expect_transposed(rt::transpose_longs, 8, rows, columns, x_more, y_more);
        }
      }
    }
  }
}

}  // namespace
}  // namespace etch
