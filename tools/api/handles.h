// What stands behind the handles of infinitensor.h, and the way out for errors.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "tools/api/infinitensor.h"
#include "tools/cli/options.h"

struct it_error {
  int status = 0;
  std::string text;
};

struct it_module {
  std::shared_ptr<const infini::Module> module;
  std::string notes;
};

struct it_results {
  std::vector<std::pair<std::string, infini::Tensor>> tensors;
  std::vector<std::vector<it_string>> strings;  // those of tensor i, if it is one of strings
  std::vector<it_array> arrays;                 // point into the above
};

namespace infini::api {

it_error* to_c(const Error& error);

// Calls `work`, which returns a Status; no exception passes.
template <class Work>
it_error* guarded(const Work& work) {
  try {
    Status done = work();
    return done ? nullptr : to_c(done.error());
  } catch (const std::bad_alloc&) {
    return to_c(run_failed("out of memory"));
  } catch (const std::exception& e) {
    return to_c(internal_error(std::string("a library threw: ") + e.what()));
  }
}

// A list that ends in null, as options of that table.
Result<cli::Arguments> options_of(std::span<const cli::Option> known, const char* const* options);

std::unique_ptr<it_results> make_results(std::vector<std::pair<std::string, Tensor>> tensors);

}  // namespace infini::api
