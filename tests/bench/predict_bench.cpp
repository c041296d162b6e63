// `swizproof predict` on a file of raw addresses, in lines a second of the processor's time, compared in the same run with work
// that it cannot avoid: `of_parsing` is its share of the rate at which simdjson parses the lines, `of_counting` its share of the
// rate at which `wc -l` counts them.
#include "command/line/run.hpp"

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace swizproof {
namespace {

constexpr std::size_t line_count = 20000;

/// Lines of four instructions in turn, 50 of each: columns, rows, and addresses anywhere.
std::string lines() {
  std::mt19937 random(1);
  std::pair<std::string_view, unsigned> const ops[] = {
      {"ld.shared.b128", 16}, {"st.shared.b64", 8}, {"ld.shared.b32", 4}, {"ldmatrix.x4", 16}};
  std::string text;
  for (unsigned i = 0; i < line_count; ++i) {
    auto const& [op, bytes] = ops[i / 50 % 4];
    text += "{\"op\": \"" + std::string(op) + "\", \"address\": [";
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned const address[] = {128 * lane + bytes * (i % 8), bytes * lane + i % 1000 * 128,
                                  static_cast<unsigned>(random() % 65536 / bytes * bytes)};
      text += (lane == 0 ? "" : ", ") + std::to_string(address[i % 3]);
    }
    text += "]}\n";
  }
  return text;
}

/// A file with these lines, as long as it lives.
struct LinesFile {
  explicit LinesFile(std::string const& text)
      : name(std::filesystem::temp_directory_path() / ("swizproof_bench_" + std::to_string(getpid()))) {
    std::ofstream(name, std::ios::binary) << text;
  }
  LinesFile(LinesFile const&) = delete;
  LinesFile& operator=(LinesFile const&) = delete;
  ~LinesFile() { std::filesystem::remove(name); }
  std::string name;
};

/// The command with its output thrown away.
void predict(std::string const& file) {
  std::fflush(stdout);
  int const kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  char const* const words[] = {"swizproof", "predict", file.c_str()};
  int const code = command::run(3, words);
  std::fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(nowhere);
  if (code != command::holds) throw std::logic_error("predict refuses the lines of its benchmark");
}

void parse(std::string& text) {
  simdjson::dom::parser parser;
  std::size_t from = 0;
  for (std::size_t end = 0; (end = text.find('\n', from)) != text.npos; from = end + 1)
    benchmark::DoNotOptimize(parser.parse(text.data() + from, end - from, false).error());
}

void count(std::string const& text) {
  std::size_t from = 0, all = 0;
  for (std::size_t end = 0; (end = text.find('\n', from)) != text.npos; from = end + 1) ++all;
  benchmark::DoNotOptimize(all);
}

/// The least seconds of the processor's time that f() takes, of some.
template <class F>
double seconds(F const& f) {
  double least = 1e9;
  for (int again = 0; again < 10; ++again) {
    std::clock_t const begin = std::clock();
    for (int i = 0; i < 5; ++i) f();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / 5);
  }
  return least;
}

void predict_lines(benchmark::State& state) {
  std::string text = lines();
  LinesFile const file(text);
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  for (auto _ : state) predict(file.name);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(line_count));
  double const all = seconds([&] { predict(file.name); });
  state.counters["of_parsing"] = seconds([&] { parse(text); }) / all;
  state.counters["of_counting"] = seconds([&] { count(text); }) / all;
}
BENCHMARK(predict_lines)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swizproof
