// Archives of arrays, stored and deflated, and bytes that are not what they say.
#include "compiler/import/npz.h"

#include <gtest/gtest.h>

#include "compiler/base/text.h"
#include "tests/support/model_builder.h"
#include "tests/support/numpy_files.h"

namespace etch {
namespace {

using namespace std::string_literals;

class NpzFile : public ::testing::Test {
 protected:
  std::optional<std::vector<NamedArray>> read(const std::string& bytes) {
    sink_ = Sink();
    return read_npz(bytes, {"x", "a/b", "data.pkl"}, limits_, "here", sink_);
  }
  // What is said of bytes that are refused.
  std::string refusal(const std::string& bytes) {
    EXPECT_FALSE(read(bytes).has_value());
    return errors_of(sink_);
  }

  Limits limits_;
  const std::string two_ = npz_file({{"x.npy", npy_file("|i1", "(2,)", "\x01\x02")},
                                     {"a/b.npy", npy_file("<f4", "()", float_bytes({1.5F}))}});

 private:
  Sink sink_;
};

TEST_F(NpzFile, HasArraysByName) {
  for (const bool deflated : {false, true}) {
    const auto arrays = read(npz_file({{"x.npy", npy_file("|i1", "(2,)", "\x01\x02")},
                                       {"a/b.npy", npy_file("<f4", "()", float_bytes({1.5F}))}},
                                      deflated));
    ASSERT_TRUE(arrays && arrays->size() == 2) << deflated;
    EXPECT_EQ((*arrays)[0].name, "x");
    EXPECT_EQ((*arrays)[0].value, Tensor::of<std::int8_t>({2}, {1, 2}));
    EXPECT_EQ((*arrays)[1].name, "a/b");
    EXPECT_EQ((*arrays)[1].value, Tensor::of<float>({}, {1.5F}));
  }
}

TEST_F(NpzFile, WithoutArraysIsEmpty) {
  const std::string bytes = npz_file({});
  EXPECT_TRUE(is_zip(bytes));
  EXPECT_EQ(read(bytes)->size(), 0U);
}

TEST_F(NpzFile, ACommentMayContainTheMarkOfTheEnd) {
  constexpr std::size_t kCommentLength = 20;  // in the record at the end, of 22 bytes
  for (const std::string& comment :
       {"by me"s, "PK\x05\x06"s, "PK\x05\x06"s + std::string(40, '\0')}) {
    std::string bytes = two_;
    bytes[bytes.size() - 22 + kCommentLength] = static_cast<char>(comment.size());
    const auto arrays = read(bytes + comment);
    EXPECT_TRUE(arrays && arrays->size() == 2) << comment;
  }
}

TEST_F(NpzFile, CutOffAnywhereIsRefused) {
  for (std::size_t length = 0; length < two_.size(); ++length)
    EXPECT_NE(refusal(two_.substr(0, length)), "") << length;
  EXPECT_EQ(refusal(two_.substr(0, 100)),
            "model: error[E-PARSE]: here: is cut off: the directory at the end of the archive is "
            "missing\n");
}

// Checked by the CRC-32 in the directory, whatever the array's own header says.
TEST_F(NpzFile, ChangedElementsAreRefused) {
  for (const bool deflated : {false, true}) {
    const std::string elements(64, 'e');
    std::string bytes = npz_file({{"x.npy", npy_file("|u1", "(64,)", elements)}}, deflated);
    bytes[bytes.find("PK\x01\x02") - 2] ^= 1;
    EXPECT_EQ(refusal(bytes), "model: error[E-PARSE]: here: array 'x' is damaged\n") << deflated;
  }
}

TEST_F(NpzFile, EveryChangedByteIsReadOrRefused) {
  const std::string good = npz_file({{"x.npy", npy_file("|i1", "(2,)", "\x01\x02")}}, true);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const auto arrays = read(bytes);  // never a crash
      if (!arrays || arrays->empty() || arrays->front().name != "x") continue;
      EXPECT_EQ((*arrays)[0].value, Tensor::of<std::int8_t>({2}, {1, 2})) << i;
    }
  }
}

TEST_F(NpzFile, OtherPackingsAreNamed) {
  std::string bytes = npz_file({{"x.npy", npy_file("|i1", "(1,)", "\x01")}});
  const std::size_t entry = bytes.find("PK\x01\x02");
  std::string encrypted = bytes, bzip2 = bytes, zip64 = bytes;
  encrypted[entry + 8] = 1;
  bzip2[entry + 10] = 12;
  for (std::size_t i = 20; i < 24; ++i) zip64[entry + i] = '\xff';
  EXPECT_EQ(refusal(encrypted), "model: error[E-PARSE]: here: array 'x' is encrypted\n");
  EXPECT_EQ(refusal(bzip2),
            "model: error[E-PARSE]: here: array 'x' is packed in a way that NumPy does not use\n");
  EXPECT_EQ(refusal(zip64), "model: error[E-PARSE]: here: array 'x' has more than 4 GB\n");
}

TEST_F(NpzFile, FilesThatAreNoArraysAreRefused) {
  EXPECT_EQ(refusal(npz_file({{"data.pkl", "text"}})),
            "model: error[E-PARSE]: here: array 'data.pkl' is no array\n");
}

// Texts, for one; numpy.load reads them when they are asked for, too.
TEST_F(NpzFile, ArraysThatNobodyAskedForMayBeOfAnyKind) {
  const auto arrays = read(npz_file({{"labels.npy", npy_file("<U1", "(1,)", "a\0\0\0"s)},
                                     {"x.npy", npy_file("|i1", "(1,)", "\x01")},
                                     {"folder/", ""}}));
  ASSERT_TRUE(arrays && arrays->size() == 3);
  EXPECT_EQ((*arrays)[0].name, "labels");
  EXPECT_EQ((*arrays)[0].value, std::nullopt);
  EXPECT_EQ((*arrays)[1].value, Tensor::of<std::int8_t>({1}, {1}));
}

// NumPy takes the last one, other programs the first.
TEST_F(NpzFile, ArraysOfOneNameAreRefused) {
  const std::string one = npy_file("|i1", "(1,)", "\x01"), two = npy_file("|i1", "(1,)", "\x02");
  EXPECT_EQ(refusal(npz_file({{"x.npy", one}, {"x.npy", two}})),
            "model: error[E-PARSE]: here: array 'x' is there twice\n");
}

TEST_F(NpzFile, MoreBytesThanItCanHoldAreRefusedBeforeTheyAreMade) {
  std::string bytes = npz_file({{"x.npy", npy_file("|i1", "(1,)", "\x01")}}, true);
  const std::size_t unpacked = bytes.find("PK\x01\x02") + 24;
  bytes.replace(unpacked, 4, "\0\0\0\x3f"s);
  EXPECT_EQ(refusal(bytes), "model: error[E-PARSE]: here: array 'x' is damaged\n");
  bytes.replace(unpacked, 4, "\0\0\0\x7f"s);
  EXPECT_EQ(refusal(bytes),
            "model: error[E-LIMIT]: here: has arrays of 2130706432 bytes, at most 1073741824; "
            "--limit external-bytes=N raises this\n");
}

}  // namespace
}  // namespace etch
