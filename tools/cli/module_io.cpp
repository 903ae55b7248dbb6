#include "tools/cli/module_io.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/onnx/onnx.h"

namespace infini::cli {
namespace {

constexpr std::size_t sniffed_bytes = 32;
constexpr std::string_view text_error = "error ";  // and a status: what stands for a graph in text form that an earlier stage could not make
constexpr std::uint64_t max_text_bytes = std::uint64_t{1} << 30;

constexpr std::array options = {
    Option{"-o,--output", Takes::value, "FILE", "write to FILE, not to standard output", "Output"},
    Option{"--embed", Takes::flag, {}, "put weights into the stream (standard for files)", "Output"},
    Option{"--by-reference", Takes::flag, {}, "leave weights in their file and name it (standard for pipes)", "Output"},
    Option{"-f,--force", Takes::flag, {}, "write a binary graph to a terminal", "Output"},
};

std::string folder_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

// What a file that is no graph looks like, for the message.
std::string look_of(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  if (bytes.starts_with("PK")) return "it is a zip archive";
  if (bytes.starts_with("\x93NUMPY")) return "it is a NumPy array";
  if (bytes.starts_with("\x08") && bytes.find("\x12") < 8) return "it looks like an ONNX model, which it-import reads (a file is imported if its name ends in .onnx)";
  return text("it begins with ", quoted(bytes.substr(0, 8)));
}

Result<Input> read_text(int descriptor, std::string prefix, const OpTable& ops, const std::string& name) {
  std::array<std::byte, 1 << 16> buffer;
  while (true) {
    IT_TRY(std::size_t count, read_fully(descriptor, buffer, name));
    prefix.append(reinterpret_cast<const char*>(buffer.data()), count);
    if (count < buffer.size()) break;
    if (prefix.size() > max_text_bytes) return bad_input(text(name, " is more than ", human_bytes(max_text_bytes), " of text"));
  }
  IT_TRY(Module module, within(name, parse_text(prefix, ops)));
  return Input{std::move(module), {}, {}, false};
}

Result<Input> import_operand(const std::string& path, const OpTable& ops, const Talk& talk) {
  IT_TRY(ImportReport imported, import_onnx(path, {}, ops));
  if (!imported.carried.empty()) talk.notice(text("operators that are carried, not understood:\n", to_string(imported.carried)));
  return Input{std::move(imported.module), {}, {}, true};
}

// True if a constant of the graph, bodies included, lies in the file at `path`.
bool lies_in(const Graph& graph, const std::string& path) {
  auto same = [&path](const ValueInfo& value) {
    const auto* file = value.constant ? std::get_if<FilePayload>(&value.constant->payload) : nullptr;
    std::error_code none;
    return file && std::filesystem::equivalent(file->range.path, path, none);
  };
  auto inside = [&path](const Node& node) {
    std::vector<const Body*> all = bodies(node);
    return std::any_of(all.begin(), all.end(), [&path](const Body* body) { return lies_in(*body->graph, path); });
  };
  return std::any_of(graph.values().begin(), graph.values().end(), same) || std::any_of(graph.nodes().begin(), graph.nodes().end(), inside);
}

}  // namespace

std::span<const Option> output_options() { return options; }

Result<Input> read_module(const std::string& operand, const OpTable& ops, const Talk& talk, bool whole) {
  bool standard_input = operand.empty() || operand == "-";
  if (standard_input && isatty(STDIN_FILENO)) return usage_error("no graph: give a file, or pipe one in (see --help)");
  if (operand.ends_with(".onnx")) return import_operand(operand, ops, talk);
  std::string name = standard_input ? "standard input" : operand;
  Descriptor descriptor;  // not standard input's, unless that is read: what is put in its place would close it
  if (standard_input) {
    descriptor = Descriptor(STDIN_FILENO);
  } else {
    IT_TRY(descriptor, open_for_reading(operand));
  }
  std::string prefix(sniffed_bytes, '\0');
  IT_TRY(std::size_t count, read_fully(descriptor.number(), std::as_writable_bytes(std::span(prefix)), name));
  prefix.resize(count);
  std::string_view start = trim(prefix);
  if (start.starts_with("graph") || start.starts_with("//") || start.starts_with("sources")) return read_text(descriptor.number(), prefix, ops, name);
  std::int64_t earlier = 0;
  if (start.starts_with(text_error) && parse_int(trim(start.substr(text_error.size())), earlier) && earlier > 0 && earlier < 256) {
    Error error = bad_input("the stage before failed");
    error.status = static_cast<int>(earlier);
    error.reported = true;
    return error;
  }
  if (!begins_stream(prefix)) {
    return bad_input(text(name, " is no graph: ", look_of(prefix)));
  }
  ReadOptions read_options{.folder = standard_input ? "" : folder_of(operand), .prefix = ""};
  // A file is read again from its start, so that it can be mapped; of a pipe, what was read goes along.
  if (lseek(descriptor.number(), -static_cast<off_t>(count), SEEK_CUR) < 0) read_options.prefix = prefix;
  IT_TRY(StreamReader reader, within(name, StreamReader::open(descriptor.number(), std::move(read_options))));
  IT_TRY(Module module, within(name, reader.read_module(ops)));
  if (whole) {
    IT_TRY_VOID(within(name, reader.finish(module)));
    return Input{std::move(module), std::move(descriptor), {}, false};
  }
  return Input{std::move(module), std::move(descriptor), std::move(reader), false};
}

Result<Output> Output::open(const Arguments& arguments, std::string_view tool) {
  Output out;
  out.path_ = arguments.get("output", "-");
  out.tool_ = text(tool, " ", IT_VERSION);
  if (arguments.has("embed") && arguments.has("by-reference")) return usage_error("--embed and --by-reference exclude each other");
  std::string emit = arguments.get("emit");
  bool stream = emit.empty(), binary = stream || emit == "onnx";
  if (out.path_.ends_with(".onnx") && emit != "onnx") {
    return usage_error(text("-o ", out.path_, ": an ONNX model is written by it-opt --emit=onnx; a stream is read again from any other name, such as .itg"));
  }
  struct stat facts {};
  bool to_pipe = false;
  if (out.path_ == "-") {
    if (isatty(STDOUT_FILENO) && binary && !arguments.has("force")) {
      return usage_error("a binary graph does not go to a terminal: use -o FILE, or pipe it on (| it-check graph), or -f");
    }
    to_pipe = fstat(STDOUT_FILENO, &facts) == 0 && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode));
  }
  out.text_ = out.path_ == "-" && emit == "text";
  out.by_reference_ = arguments.has("by-reference") || (to_pipe && !arguments.has("embed"));
  if (out.path_ == "-" && stream) {
    out.writer_.emplace(descriptor_sink(STDOUT_FILENO, "standard output"), out.tool_);
    IT_TRY_VOID(out.writer_->begin());
  }
  return out;
}

Status Output::write(Module module, StreamReader* source) {
  if (by_reference_ && path_ != "-" && lies_in(module.graph, path_)) {
    return usage_error(text("-o ", path_, " would replace the file that the weights are in; leave out --by-reference, or name another file"));
  }
  WriteOptions write_options{.by_reference = by_reference_, .folder = "", .source = source};
  if (writer_) return writer_->write(std::move(module), write_options);
  write_options.folder = folder_of(path_);
  if (write_options.folder.empty()) write_options.folder = ".";
  IT_TRY(FileWriter file, FileWriter::open(path_));
  StreamWriter writer([&file](std::span<const std::byte> bytes) { return file.write(bytes); }, tool_);
  IT_TRY_VOID(writer.begin());
  IT_TRY_VOID(writer.write(std::move(module), write_options));
  return file.commit();
}

Status Output::write_text(const std::string& text) {
  IT_TRY(FileWriter file, FileWriter::open(path_));
  IT_TRY_VOID(file.write(std::string_view(text)));
  return file.commit();
}

int Output::fail(const Error& error, int status) {
  if (status == status_broken_pipe || error.kind == ErrorKind::io) return status;
  if (text_) (void)write_text(text(text_error, status, "\n"));
  if (!writer_) return status;
  // The next stage may be gone as well; the status stands either way.
  if (Status told = writer_->fail(error, status); !told) return status;
  return status;
}

LedgerEntry ledger_entry(std::string_view tool, std::string chosen, const Graph* before, const Graph& after) {
  LedgerEntry entry{std::string(tool), IT_VERSION, std::move(chosen), std::nullopt, structure_digest(after)};
  if (before) entry.before = structure_digest(*before);
  return entry;
}

}  // namespace infini::cli
