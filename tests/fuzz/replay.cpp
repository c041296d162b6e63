// Runs an entry point on files: the regression corpus, without a fuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i)
    for (auto const& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::string const text{std::istreambuf_iterator<char>(file), {}};
      std::fprintf(stderr, "%s\n",
                   entry.path().filename().c_str());  // the last one named is the one that crashed
      LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(text.data()), text.size());
      ++files;
    }
  std::printf("%zu inputs\n", files);
  return files == 0 ? 1 : 0;
}
