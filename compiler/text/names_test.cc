// What may become a name or a comment of generated code.
#include "compiler/text/names.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

TEST(Names, AcceptIdentifiersThatCanBeNamespaceFileAndPrefix) {
  for (const char* name : {"digits", "MobileNet_V2", "m", "net2", "model_int"}) {
    EXPECT_TRUE(is_usable_name(name)) << name;
  }
}

TEST(Names, RefuseEverythingElse) {
  for (const char* name : {"", "2net", "_net", "a-b", "a b", "a/b", "..", "a__b", "int", "std",
                           "etch", "main", "linux", "size_t", "na\xc3\xafve", "a.b", "a\n",
                           "a1234567890123456789012345678901234567890123"}) {
    EXPECT_FALSE(is_usable_name(name)) << name;
  }
}

TEST(Names, ASectionIsLettersDigitsUnderscoresAndDots) {
  for (const char* good : {".ext_flash", "_x", "QSPI.data0", "."}) {
    EXPECT_TRUE(is_usable_section(good)) << good;
  }
  for (const char* bad :
       {"", "0a", ".a b", ".a\"", ".a\\", ".a,\"ax\"", ".a\n", ".a)", "\xc3\xa4"}) {
    EXPECT_FALSE(is_usable_section(bad)) << bad;
  }
  EXPECT_TRUE(is_usable_section(std::string(64, 'a')));
  EXPECT_FALSE(is_usable_section(std::string(65, 'a')));
}

TEST(Names, OfTheModelAreShownWhereTheyCanDoNoHarm) {
  for (const char* good :
       {"conv1", "/features/conv.0/Conv_quant", "model/conv2d:0", "_x", "int", "a-b", "Qz9x"}) {
    EXPECT_EQ(shown_name(good), good);
  }
  EXPECT_EQ(shown_name(std::string(44, 'a')), std::string(44, 'a'));
  for (const std::string bad :
       {"",     "1",      "/",   "//x",          "/1", ".x",   "a b", "a..b",
        "a//b", "isa::x", "a*b", "a/*b",         "a?", "a\\",  "a\n", "a'",
        "a\"",  "a;b",    "a(b", "na\xc3\xafve", "-x", "x\x7f"}) {
    EXPECT_EQ(shown_name(bad), "") << bad;
  }
  EXPECT_EQ(shown_name(std::string(45, 'a')), "");
}

TEST(Names, OfTheModelBecomeParametersWhereNothingElseHasThem) {
  for (const char* good : {"image", "x", "input", "output", "input_ids", "conv1", "n", "note2"}) {
    EXPECT_TRUE(is_usable_parameter(good)) << good;
  }
  for (const char* bad : {"",        "Image",
                          "NULL",    "_x",
                          "int",     "typeof",
                          "arena",   "threads",
                          "call",    "run_shares",
                          "input0",  "output12",
                          "n3_conv", "n3",
                          "buffer1", "share_of_n3_conv",
                          "size_t",  "my_t",
                          "a__b",    "a-b",
                          "errno",   "kArenaAlignment",
                          "rt",      "isa"}) {
    EXPECT_FALSE(is_usable_parameter(bad)) << bad;
  }
}

TEST(Names, OnTheCommandLineAreQuotedWhereAShellNeedsIt) {
  EXPECT_EQ(shell_word("N=1"), "N=1");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("N<=8"), "'N<=8'");
  EXPECT_EQ(shell_word("$(x)'`"), "'..x...'");
}

TEST(Names, CommentsCannotContinueOnTheNextLineNorHideText) {
  EXPECT_EQ(comment_text("3x3, 8 -> 16"), "3x3, 8 -> 16");
  EXPECT_EQ(comment_text("a\nint evil;\\"), "a.int evil;.");
  EXPECT_EQ(comment_text("a?\?/"), "a../");
  EXPECT_EQ(comment_text("\xe2\x80\xae"), "...");
}

TEST(Names, GroupDigitsOfLargeNumbers) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(-123456), "-123,456");
}

}  // namespace
}  // namespace etch
