// Obligations that a program prints: the pitch is a constant of the code, as a kernel has it.
#include <swizproof/core/swizzle.hpp>

#include <cstdio>

namespace {
constexpr int pitch = 72;
static_assert(swizproof::swizzle_128B(128U) == 144U, "the header is swizproof's");
}  // namespace

int main() {
  std::printf(
      "[[obligation]]\nname = 'padded rows'\nsource = '%s:%d'\nlayout = '(16,64):(%d,1)'\nelement = "
      "'f16'\naccess = "
      "['ldmatrix.x4']\n",
      __FILE__, __LINE__, pitch);
}
