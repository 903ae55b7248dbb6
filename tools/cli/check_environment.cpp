#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "libcore/base/text.h"
#include "libcore/ir/graph.h"
#include "tools/cli/checks.h"
#include "tools/cli/devices.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

struct Line {
  std::string_view verdict;  // ok, warn, fail
  std::string subject, detail;
};

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return std::string(trim(std::string_view(line).substr(line.find(':') + 1)));
  }
  return "unknown processor";
}

// y = relu(a b): [[1 2][3 4]] [[1 0][0 -1]] = [[1 -2][3 -4]] -> [[1 0][3 0]].
Result<bool> known_answer(const Devices& devices) {
  OpTable ops;
  GraphBuilder builder;
  ValueId a = builder.add_input("a", Type::tensor(DType::f32, Shape{2, 2}));
  ValueId b = builder.add_constant("b", make_constant(Tensor::of<float>(DType::f32, {2, 2}, {1, 0, 0, -1})));
  GraphBuilder::NodeSpec product;
  product.op = ops.find("", "MatMul");
  product.inputs = {a, b};
  product.output_names = {"p"};
  IT_TRY(std::vector<ValueId> p, builder.add_node(std::move(product)));
  GraphBuilder::NodeSpec relu;
  relu.op = ops.find("", "Relu");
  relu.inputs = p;
  relu.output_names = {"y"};
  IT_TRY(std::vector<ValueId> y, builder.add_node(std::move(relu)));
  builder.add_output(y[0]);
  IT_TRY(Graph graph, std::move(builder).build());
  ExecOptions options;
  options.devices = devices;
  IT_TRY(std::unique_ptr<Executor> executor, Executor::make(std::make_shared<const Graph>(std::move(graph)), std::move(options)));
  std::vector<Value> inputs = {Tensor::of<float>(DType::f32, {2, 2}, {1, 2, 3, 4})};
  IT_TRY(std::vector<Value> outputs, executor->run(inputs));
  const float* got = outputs[0].tensor()->data<float>();
  return got[0] == 1 && got[1] == 0 && got[2] == 3 && got[3] == 0;
}

Line device_line(const std::string& name, const Devices& devices) {
  if (name == "null") return {"ok", "device null", "runs nothing, by design"};
  Result<bool> right = known_answer(devices);
  std::string description = devices[0]->info().description;
  if (!right && right.error().kind == ErrorKind::unsupported) {
    return {"warn", text("device ", name), text(description, "; no known answer, for it does not take MatMul and Relu in f32")};
  }
  if (!right) return {"fail", text("device ", name), text(description, "; known answer: ", right.error().text())};
  return {*right ? "ok" : "fail", text("device ", name), text(description, *right ? "; known answer right" : "; known answer WRONG: do not trust this device")};
}

// missing: the verdict on a device that cannot be opened.
Line tried_line(const std::string& name, std::string_view missing, const Arguments& arguments) {
  auto attempt = [&] {
    Result<Devices> devices = open_named(name, arguments);
    return devices ? device_line(name, *devices) : Line{missing, text("device ", name), devices.error().text()};
  };
  Status survived = survives_probe(name, [&] { (void)attempt(); });
  return survived ? attempt() : Line{"fail", text("device ", name), survived.error().text()};
}

std::vector<Line> device_lines(const Arguments& arguments) {
  std::vector<std::string> known = known_backends(arguments), required;
  if (arguments.has("require")) required = infini::split(arguments.get("require"), ',');
  for (const std::string& name : required) {
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  }
  std::vector<Line> lines;
  for (const std::string& name : known) {
    bool needed = std::find(required.begin(), required.end(), name) != required.end();
    lines.push_back(tried_line(name, needed ? "fail" : "warn", arguments));
  }
  return lines;
}

Line memory_line() {
  auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)), page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t bytes = pages * page;
  constexpr std::uint64_t little = std::uint64_t{1} << 30;
  return {bytes < little ? "warn" : "ok", "memory", human_bytes(bytes)};
}

Line disk_line() {
  struct statvfs facts {};
  if (statvfs(".", &facts) != 0) return {"warn", "disk", "cannot be asked"};
  std::uint64_t bytes = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
  constexpr std::uint64_t little = std::uint64_t{1} << 28;
  return {bytes < little ? "warn" : "ok", "disk", text(human_bytes(bytes), " free here", bytes < little ? "; make room: embedding a model needs its size" : "")};
}

}  // namespace

Result<int> check_environment(const Arguments& arguments, const Talk& talk) {
  std::vector<Line> lines;
  std::string build = version("it-check");
  lines.push_back({"ok", "build", join(infini::split(trim(build), '\n'), "; ")});
  lines.push_back({"ok", "processor", text(processor_name(), ", ", sysconf(_SC_NPROCESSORS_ONLN), " cores")});
  for (Line& line : device_lines(arguments)) lines.push_back(std::move(line));
  lines.push_back(memory_line());
  lines.push_back(disk_line());
  std::string page;
  bool failed = false;
  if (arguments.has("json")) page = "{\"schema\": \"it-env/1\", \"lines\": [";
  for (const Line& line : lines) {
    failed = failed || line.verdict == "fail";
    if (arguments.has("json")) {
      page += text(&line == &lines[0] ? "" : ",", "\n  {\"verdict\": \"", line.verdict, "\", \"subject\": ", json_text(line.subject), ", \"detail\": ",
                   json_text(line.detail), "}");
    } else {
      page += text(line.verdict, std::string(6 - line.verdict.size(), ' '), line.subject, ": ", line.detail, "\n");
    }
  }
  if (arguments.has("json")) page += "\n]}\n";
  int written = print_page(page, talk);
  return written ? written : failed ? status_no : 0;
}

}  // namespace infini::cli
