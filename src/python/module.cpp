// The module behind `import swizproof`: the command line as a function of words. Everything else of the package is Python
// around its JSON, so that there is one answer and not two.
#include "command/line/run.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace swizproof::python {

namespace {

/// Calls that a signal has left behind, which still compute.
std::atomic<unsigned> left_behind = 0;

/// A call, its words and its answer: shared by who waits and who computes, as either may go first.
class Call {
 public:
  Call(std::vector<std::string> words, std::string input)
      : words_(std::move(words)), input_(std::move(input)) {}

  /// Never throws: what was thrown is for `take`.
  void compute() noexcept {
    try {
      answer_ = command::answer(std::move(words_), input_, stop_.get_token());
    } catch (...) {
      failure_ = std::current_exception();
    }
    std::scoped_lock const lock(mutex_);
    done_ = true;
    if (left_) --left_behind;
    changed_.notify_all();
  }
  /// True if the answer is there, after at most this time.
  [[nodiscard]] bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return done_; });
  }
  /// Stops the call, because no thread waits for its result.
  void leave() {
    {
      std::scoped_lock const lock(mutex_);
      if (done_) return;
      left_ = true;
      ++left_behind;
    }
    stop_.request_stop();
  }
  [[nodiscard]] command::Reply take() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(answer_);
  }

 private:
  std::vector<std::string> words_;
  std::string input_;
  std::stop_source stop_{};
  command::Reply answer_{};
  std::exception_ptr failure_{};
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool done_ = false, left_ = false;
};

/// Computes in another thread. The calling thread handles Python's signals meanwhile: KeyboardInterrupt comes at once, and
/// stops the computation.
command::Reply compute(std::vector<std::string> words, std::string input) {
  auto const call = std::make_shared<Call>(std::move(words), std::move(input));
  std::thread([call] { call->compute(); }).detach();
  for (;;) {
    {
      py::gil_scoped_release const released;
      if (call->wait(std::chrono::milliseconds(50))) break;
    }
    if (PyErr_CheckSignals() != 0) {
      call->leave();
      throw py::error_already_set();
    }
  }
  return call->take();
}

}  // namespace

}  // namespace swizproof::python

PYBIND11_MODULE(_swizproof, module) {
  module.doc() = "The command line of swizproof as a function of words.";
  module.def(
      "answer",
      [](std::vector<std::string> words, std::string input) {
        auto const answer = swizproof::python::compute(std::move(words), std::move(input));
        return py::make_tuple(answer.exit_code, py::bytes(answer.document), py::bytes(answer.complaint));
      },
      py::arg("words"), py::arg("input") = py::bytes(),
      "Exit code, document and complaint of the command line that these words are; `input` is its standard "
      "input.");
  module.def(
      "run",
      [](std::vector<std::string> const& words) {
        std::vector<char const*> argv;
        for (std::string const& word : words) argv.push_back(word.c_str());
        argv.push_back(nullptr);
        py::gil_scoped_release const released;
        return swizproof::command::run(static_cast<int>(words.size()), argv.data());
      },
      py::arg("words"),
      "Exit code of the command line that these words are, the program's name first. It prints to the "
      "descriptors 1 and 2.");
  module.def(
      "left_behind", [] { return swizproof::python::left_behind.load(); },
      "How many calls a signal has left behind that still compute.");
  module.def("commands", &swizproof::command::commands,
             "Description of the commands, their arguments and options, in JSON.");
  module.attr("version") = SWIZPROOF_VERSION;
}
