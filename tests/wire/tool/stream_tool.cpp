// Makes and prints streams for tests/wire/read_stream.py, without operators:
//   sample FILE N   writes a stream that holds one of everything, its large constants of N elements
//   print FILE      what read_stream.py prints of it
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "tests/wire/sample.h"

using namespace infini;

namespace {

Result<StreamReader> open_path(const std::string& path) {
  IT_TRY(Descriptor file, open_for_reading(path));
  return StreamReader::open(file.number());
}

Status make_sample(const std::string& path, std::int64_t large) {
  OpTable ops;
  IT_TRY(FileWriter file, FileWriter::open(path));
  StreamWriter writer([&file](std::span<const std::byte> bytes) { return file.write(bytes); }, "it-test 1");
  IT_TRY_VOID(writer.write(test::sample_module(ops, large)));
  return file.commit();
}

std::string hex_of(const Constant& constant) {
  Result<Tensor> tensor = load(constant);
  return tensor ? to_hex(content_digest(*tensor)) : "absent";
}

void print_graph(const Graph& graph, const std::string& indent) {
  std::cout << indent << "graph '" << graph.name() << "'\n";
  for (ValueId id : graph.inputs()) std::cout << indent << "  input " << graph.value(id).name << "\n";
  for (const ValueInfo& value : graph.values()) {
    if (!value.constant) continue;
    const Constant& constant = *value.constant;
    std::cout << indent << "  constant " << value.name << " " << static_cast<int>(constant.dtype) << to_string(constant.extents) << " "
              << hex_of(constant) << "\n";
  }
  for (const Node& node : graph.nodes()) {
    std::cout << indent << "  node " << node.domain << "::" << node.type << " '" << node.name << "'";
    for (const Attribute& attribute : node.attributes) std::cout << " " << attribute.name;
    std::cout << "\n";
    for (const Body* body : bodies(node)) print_graph(*body->graph, indent + "    ");
  }
  for (ValueId id : graph.outputs()) std::cout << indent << "  output " << graph.value(id).name << "\n";
}

Status print(const std::string& path) {
  OpTable ops;
  IT_TRY(StreamReader reader, open_path(path));
  IT_TRY(Module module, reader.read_module(ops));
  IT_TRY_VOID(reader.finish(module));
  std::cout << "tool " << reader.tool() << "\n";
  print_graph(module.graph, "");
  for (const TestVector& test : module.tests) {
    std::cout << "test '" << test.name << "'";
    for (const auto& [name, value] : test.inputs) std::cout << " " << name;
    std::cout << " ->";
    for (const auto& [name, value] : test.outputs) std::cout << " " << name;
    std::cout << "\n";
  }
  for (const LedgerEntry& entry : module.ledger) std::cout << "ledger " << entry.tool << " " << entry.version << " " << entry.options << "\n";
  return {};
}

Status dispatch(int argc, char** argv) {
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "sample" && argc == 4) return make_sample(argv[2], std::atoll(argv[3]));
  if (command == "print" && argc == 3) return print(argv[2]);
  return usage_error("sample FILE N | print FILE");
}

}  // namespace

int main(int argc, char** argv) {
  Status status = dispatch(argc, argv);
  if (!status) std::fprintf(stderr, "%s\n", status.error().text().c_str());
  return status ? 0 : 3;
}
