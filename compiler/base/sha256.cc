// SHA-256 by libcrypto; see sha256.h.
#include "compiler/base/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "compiler/base/check.h"

namespace etch {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  ETCH_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) ==
             1);
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += {kHex[digest[i] >> 4], kHex[digest[i] & 15]};
  return out;
}

}  // namespace etch
