// What may reach a terminal.
#include "compiler/host/reporter.h"

#include <gtest/gtest.h>

namespace etch::cli {
namespace {

TEST(Reporter, PathsKeepTheirLettersButDriveNoTerminal) {
  EXPECT_EQ(one_line("Größe/模型 😀.onnx"), "Größe/模型 😀.onnx");
  EXPECT_EQ(one_line("a\nb\x1b[2J\x7f"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "2J"),
            "\\xc2\\x9b2J");                                         // CSI as one C1 control
  EXPECT_EQ(one_line("\u202egpj.onnx"), "\\xe2\\x80\\xaegpj.onnx");  // right to left
  EXPECT_EQ(one_line("\u2028"), "\\xe2\\x80\\xa8");                  // a line separator
}

TEST(Reporter, WhatIsNoUtf8IsShownAsBytes) {
  EXPECT_EQ(one_line("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(one_line("\xc0\xaf"), "\\xc0\\xaf");           // longer than needed
  EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
  EXPECT_EQ(one_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(one_line("a\xe2\x80"), "a\\xe2\\x80");  // cut short
}

}  // namespace
}  // namespace etch::cli
