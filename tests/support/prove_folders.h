// Folders of models of a test's own, and their proofs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/cli.h"

namespace etch::cli {

class ProveFolders : public Cli {
 protected:
  ProcessResult compile(const std::string& model, std::vector<std::string> more,
                        const std::string& target = "scalar") const {
    more.insert(more.begin(),
                {"compile", model, "-f", "-o", path("out"), "--target", target, "--name", "net"});
    return etch(more);
  }
  ProcessResult prove(const std::string& model, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"prove", path("out"), "--model", model});
    return etch(more);
  }
};

#define EXPECT_SAYS(text, what) EXPECT_NE((text).find(what), std::string::npos) << (text)
#define EXPECT_SAYS_NOT(text, what) EXPECT_EQ((text).find(what), std::string::npos) << (text)

}  // namespace etch::cli
