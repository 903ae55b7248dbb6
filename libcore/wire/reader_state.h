// What a StreamReader holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/wire/constants.h"
#include "libcore/wire/payloads.h"
#include "libcore/wire/wire.h"

namespace infini {

namespace wire {

// What stands behind the constants of the graph.
struct Rest {
  std::vector<TestVector> tests;
  std::vector<LedgerEntry> ledger;
  std::vector<Hash128> contents;  // by payload number
};

}  // namespace wire

struct StreamReader::State {
  Status read_rest();
  Status read_test_vector(const wire::FrameHead& head);
  Status read_end(const wire::FrameHead& head);

  std::shared_ptr<wire::Payloads> payloads;
  wire::ConstantReader constants;
  std::string tool;
  std::optional<wire::Rest> rest;  // once it has been read
  bool finished = false;
};

}  // namespace infini
