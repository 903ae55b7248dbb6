// A stage of a pipe for the tests of streams, without operators:
//   sample FILE N                     writes a stream that holds one of everything, its large constants of N elements
//   print FILE                        what tests/wire/read_stream.py prints of it
//   import MODEL BYTES N embed|refer  N constants of together BYTES bytes that lie in MODEL, to standard output
//   pass                              standard input to standard output, embedding
//   run                               reads standard input and asks for every constant
// The last three print the peak of their memory and their time to standard error.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "tests/wire/sample.h"

using namespace infini;

namespace {

// What the kernel says of this process's peak, mapped pages included, in KiB.
long peak_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  }
  return -1;
}

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

Status import(const std::string& model, std::int64_t bytes, std::int64_t count, bool by_reference) {
  GraphBuilder builder;
  std::int64_t elements = bytes / 4 / count;
  for (std::int64_t i = 0; i < count; ++i) {
    ConstantRef constant = test::file_constant(model, DType::f32, {elements}, static_cast<std::uint64_t>(i * elements * 4));
    builder.add_output(builder.add_constant(text("weight_", i), constant));
  }
  IT_TRY(Graph graph, std::move(builder).build());
  StreamWriter writer(descriptor_sink(1, "standard output"), "it-test 1");
  IT_TRY_VOID(writer.begin());
  return writer.write({std::move(graph), {}, {}}, {.by_reference = by_reference});
}

Status pass() {
  OpTable ops;
  IT_TRY(StreamReader reader, StreamReader::open(0));
  StreamWriter writer(descriptor_sink(1, "standard output"), "it-test 1");
  IT_TRY_VOID(writer.begin());
  IT_TRY(Module module, reader.read_module(ops));
  return writer.write(std::move(module), {.by_reference = true, .source = &reader});
}

Status run() {
  OpTable ops;
  IT_TRY(StreamReader reader, StreamReader::open(0));
  IT_TRY(Module module, reader.read_module(ops));
  std::uint64_t bytes = 0;
  for (const ValueInfo& value : module.graph.values()) {
    IT_TRY(Tensor tensor, load(*value.constant));
    bytes += tensor.bytes().size();
  }
  IT_TRY_VOID(reader.finish(module));
  std::fprintf(stderr, "run: %llu bytes\n", static_cast<unsigned long long>(bytes));
  return {};
}

Status dispatch(int argc, char** argv) {
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "sample" && argc == 4) return make_sample(argv[2], std::atoll(argv[3]));
  if (command == "print" && argc == 3) return print(argv[2]);
  if (command == "import" && argc == 6) return import(argv[2], std::atoll(argv[3]), std::atoll(argv[4]), std::string_view(argv[5]) == "refer");
  if (command == "pass" && argc == 2) return pass();
  if (command == "run" && argc == 2) return run();
  return usage_error("sample FILE N | print FILE | import MODEL BYTES N embed|refer | pass | run");
}

}  // namespace

int main(int argc, char** argv) {
  auto start = std::chrono::steady_clock::now();
  Status status = dispatch(argc, argv);
  if (!status) std::fprintf(stderr, "%s\n", status.error().text().c_str());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (argc > 1 && (argc == 2 || argc == 6)) std::fprintf(stderr, "%s: peak %ld KiB, %.3f s\n", argv[1], peak_kib(), seconds);
  return status ? 0 : 3;
}
