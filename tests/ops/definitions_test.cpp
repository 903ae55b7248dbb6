// Properties of all definitions, and their agreement with ONNX's own newest schemas (schemas.txt, see make_schemas.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "libcore/base/text.h"
#include "libcore/ops/op.h"

using namespace infini;

namespace {

struct SchemaParam {
  std::string arity, group;
  DTypeSet dtypes;
  bool other = false;  // takes what is no tensor
};
struct Schema {
  std::vector<int> versions;
  bool deprecated = false;
  std::vector<SchemaParam> inputs, outputs;
  std::vector<std::string> attributes;  // "NAME KIND [required | = DEFAULT]", sorted
};

SchemaParam read_param(const std::vector<std::string>& words) {
  SchemaParam param{words.at(1), words.at(2), {}};
  for (std::size_t i = 3; i < words.size(); ++i) {
    std::optional<DType> dtype = parse_dtype(words[i]);
    if (dtype) param.dtypes = param.dtypes | *dtype;
    param.other = param.other || !dtype;
  }
  return param;
}

std::map<std::string, Schema> read_schemas() {
  std::map<std::string, Schema> out;
  std::ifstream file(std::string(IT_TEST_DATA) + "/schemas.txt");
  Schema* schema = nullptr;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> words = split(line, ' ');
    if (words[0] == "op") {
      schema = &out[words.at(1)];
      schema->deprecated = words.back() == "deprecated";
      if (schema->deprecated) words.pop_back();
      for (std::size_t i = 2; i < words.size(); ++i) schema->versions.push_back(std::stoi(words[i]));
    }
    if (words[0] == "in") schema->inputs.push_back(read_param(words));
    if (words[0] == "out") schema->outputs.push_back(read_param(words));
    if (words[0] == "attr") schema->attributes.push_back(line.substr(5));
  }
  return out;
}

std::string_view kind_word(AttributeKind kind) {
  constexpr std::string_view words[] = {"integer", "real", "text", "integers", "reals", "texts", "tensor", "type", "body", "tensors", "bodies"};
  return words[static_cast<std::size_t>(kind)];
}

std::string_view arity_word(Arity arity) { return arity == Arity::one ? "one" : arity == Arity::optional ? "optional" : "variadic"; }

// The definition's attribute says what the schema's line does; a real default is compared as a number.
bool agrees(const AttributeDef& def, const std::string& line) {
  std::string start = text(def.name, " ", kind_word(def.kind));
  if (def.standard == AttributeDef::Standard::none) return line == start;
  if (def.standard == AttributeDef::Standard::required) return line == start + " required";
  if (def.standard == AttributeDef::Standard::integer) return line == text(start, " = ", def.integer);
  if (def.standard == AttributeDef::Standard::text) return line == text(start, " = ", def.text);
  double value = 0;
  std::string lead = start + " = ";
  return line.starts_with(lead) && parse_double(line.substr(lead.size()), value) && static_cast<float>(value) == def.real;
}

void check_params(std::span<const Param> ours, const std::vector<SchemaParam>& theirs, std::string_view what) {
  INFO(std::string(what));
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO("number ", i, ", '", std::string(ours[i].name), "'");
    CHECK(arity_word(ours[i].arity) == theirs[i].arity);
    if (ours[i].dtypes.empty()) continue;
    CHECK(ours[i].dtypes == theirs[i].dtypes);
    for (std::size_t j = 0; what == "input" && j < i; ++j) {
      bool one_type = theirs[i].group == theirs[j].group && theirs[i].group.find("tensor(") == std::string::npos && theirs[i].group != "-";
      if (!ours[j].dtypes.empty()) CHECK((!ours[i].group.empty() && ours[i].group == ours[j].group) == one_type);
    }
  }
}

}  // namespace

TEST_CASE("operators: exactly one of meaning, reference, body and effect") {
  OpTable ops;
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const OpDef* op : ops.all()) {
    INFO(std::string(op->name));
    CHECK(names.insert({op->domain, op->name}).second);
    CHECK(bool(op->meaning) + bool(op->reference) + bool(op->run_body) + op->effect == 1);
    CHECK(bool(op->infer));
    CHECK(!op->summary.empty());
    CHECK(!op->versions.empty());
    CHECK(std::is_sorted(op->versions.begin(), op->versions.end()));
    for (int i : op->value_inputs) CHECK(static_cast<std::size_t>(i) < op->inputs.size());
    if (op->reference) CHECK(!op->reference_reason.empty());
    if (!op->reference && !op->on_values) CHECK(op->reference_reason.empty());
  }
}

TEST_CASE("operators: the list of references has each with its reason") {
  std::vector<std::string> listed, held;
  std::ifstream file(std::string(IT_TEST_DATA) + "/../../libcore/ops/references.md");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("- ")) listed.push_back(line);
  }
  OpTable ops;
  for (const OpDef* op : ops.all()) {
    if (!op->reference_reason.empty()) held.push_back(text("- ", op->name, ": ", op->reference_reason));
  }
  CHECK(join(listed, "\n") == join(held, "\n"));
}

TEST_CASE("operators: signatures are those of ONNX") {
  std::map<std::string, Schema> schemas = read_schemas();
  REQUIRE(schemas.size() > 200);
  OpTable ops;
  for (const OpDef* op : ops.all()) {
    if (!op->domain.empty()) continue;
    INFO(std::string(op->name));
    auto found = schemas.find(std::string(op->name));
    REQUIRE(found != schemas.end());
    const Schema& schema = found->second;
    CHECK(std::ranges::equal(op->versions, schema.versions));
    if (schema.deprecated) continue;
    check_params(op->inputs, schema.inputs, "input");
    check_params(op->outputs, schema.outputs, "output");
    std::vector<std::string> theirs = schema.attributes;
    std::erase_if(theirs, [](const std::string& line) { return line.ends_with(" sparse"); });  // importers make them dense
    std::vector<AttributeDef> ours(op->attributes.begin(), op->attributes.end());
    std::ranges::sort(ours, {}, &AttributeDef::name);
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      INFO(theirs[i]);
      CHECK(agrees(ours[i], theirs[i]));
    }
  }
}
