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
