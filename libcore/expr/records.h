// Programs as the plain C records in which they cross the plugin boundary.
#pragma once

#include <vector>

#include "libcore/base/result.h"
#include "libcore/expr/expr.h"
#include "libcore/plugin/it_backend.h"

namespace infini::expr {

// Owns the arrays that view() points to.
class ProgramRecords {
 public:
  // internal if a dimension is not a number.
  static Result<ProgramRecords> of(const Program& program);
  ProgramRecords(const ProgramRecords&) = delete;
  ProgramRecords& operator=(const ProgramRecords&) = delete;
  ProgramRecords(ProgramRecords&&) = default;
  ProgramRecords& operator=(ProgramRecords&&) = default;

  // Valid as long as this is, also after a move.
  it_program view() const;

 private:
  ProgramRecords() = default;
  void add_terms(const Program& program);
  it_tensor tensor_of(const TensorInfo& info);

  std::vector<std::vector<std::int64_t>> extents_;
  std::vector<it_tensor> inputs_;
  std::vector<it_instr> instrs_;
  std::vector<std::int32_t> operands_;
  std::vector<std::int64_t> bounds_;
  std::vector<it_definition> definitions_;
  std::vector<std::int32_t> outputs_;
};

}  // namespace infini::expr
