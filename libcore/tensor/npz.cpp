#include "libcore/tensor/npz.h"

#include <algorithm>
#include <map>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/tensor/npy.h"
#include "libcore/tensor/npz_types.h"
#include "libcore/tensor/zip.h"

namespace infini {
namespace {

constexpr std::string_view types_member = "__dtypes__.json";
constexpr std::string_view suffix = ".npy";
constexpr int most_nesting = 16;

std::string item_name(const std::string& name, std::size_t index) { return text(name, ".", index); }

// ---- writing

class Writer {
 public:
  explicit Writer(ZipWriter& zip) : zip_(zip) {}

  Status add(const std::string& name, const Value& value) {
    if (const Tensor* tensor = value.tensor()) return add_tensor(name, *tensor);
    if (const Sequence* sequence = value.sequence()) {
      IT_TRY_VOID(describe(name, value.type(), sequence->items.size()));
      for (std::size_t i = 0; i < sequence->items.size(); ++i) IT_TRY_VOID(add(item_name(name, i), sequence->items[i]));
      return {};
    }
    if (const Optional* optional = value.optional()) {
      IT_TRY_VOID(describe(name, value.type(), optional->item ? 1 : 0));
      return optional->item ? add(item_name(name, 0), *optional->item) : Status();
    }
    return unsupported(text("npz: ", quoted(name), " is a map, which npz files do not hold"));
  }

  Status finish() {
    if (!types_.empty()) {
      std::string json = write_npz_types(types_);
      IT_TRY_VOID(zip_.add(std::string(types_member), [&](const ByteSink& sink) { return sink(std::as_bytes(std::span(json))); }));
    }
    return zip_.finish();
  }

 private:
  Status add_tensor(const std::string& name, const Tensor& tensor) {
    if (travels_raw(tensor.dtype())) types_.emplace_back(name, std::string(infini::name(tensor.dtype())));
    return zip_.add(text(name, suffix), [&](const ByteSink& sink) { return write_npy(tensor, sink); });
  }

  Status describe(const std::string& name, const Type& type, std::size_t length) {
    types_.emplace_back(name, npz_type(type));
    types_.emplace_back(name + "#", text(length));
    return {};
  }

  ZipWriter& zip_;
  NpzTypes types_;
};

// ---- reading

class Reader {
 public:
  Reader(std::span<const std::byte> file, const std::shared_ptr<const void>& owner, std::uint64_t limit)
      : file_(file), owner_(owner), left_(limit) {}

  Result<NamedValues> run() {
    IT_TRY(members_, list_zip(file_));
    IT_TRY_VOID(read_types());
    for (const ZipMember& member : members_) {
      if (member.name.ends_with(suffix)) unread_.emplace(member.name.substr(0, member.name.size() - suffix.size()), &member);
    }
    NamedValues composites;
    for (const auto& [name, type] : types_) {
      if (!is_composite(type) || is_item(name)) continue;
      IT_TRY(Value value, composite(name, type, 0));
      composites.emplace_back(name, std::move(value));
    }
    NamedValues values;
    for (const ZipMember& member : members_) {
      if (!member.name.ends_with(suffix)) continue;
      std::string name = member.name.substr(0, member.name.size() - suffix.size());
      if (!unread_.contains(name)) continue;
      IT_TRY(Tensor tensor, read_tensor(name));
      values.emplace_back(std::move(name), std::move(tensor));
    }
    std::ranges::move(composites, std::back_inserter(values));
    return values;
  }

 private:
  static bool is_composite(const std::string& type) { return type.find('(') != std::string::npos; }

  Status read_types() {
    auto found = std::ranges::find(members_, types_member, &ZipMember::name);
    if (found == members_.end()) return {};
    IT_TRY_VOID(charge(found->size));
    IT_TRY(ZipBytes json, read_zip_member(file_, owner_, *found));
    IT_TRY(types_, parse_npz_types({reinterpret_cast<const char*>(json.bytes.data()), json.bytes.size()}));
    for (const auto& [name, type] : types_) by_name_[name] = type;
    return {};
  }

  // True if `name` is "s.3" and there is a composite s.
  bool is_item(const std::string& name) const {
    std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return false;
    auto found = by_name_.find(name.substr(0, dot));
    return found != by_name_.end() && is_composite(found->second) && length_of(found->first) > index_of(name.substr(dot + 1));
  }

  static std::uint64_t index_of(const std::string& digits) {
    std::int64_t index = -1;
    return parse_int(digits, index) && index >= 0 && text(index) == digits ? static_cast<std::uint64_t>(index) : UINT64_MAX;
  }

  std::uint64_t length_of(const std::string& name) const {
    auto found = by_name_.find(name + "#");
    std::uint64_t length = found == by_name_.end() ? UINT64_MAX : index_of(found->second);
    return length == UINT64_MAX ? 0 : length;
  }

  Result<Value> composite(const std::string& name, const std::string& spelling, int depth) {
    if (depth > most_nesting) return bad_input(text("npz: ", quoted(name), " is nested deeper than ", most_nesting, " levels"));
    IT_TRY(Type type, parse_npz_type(spelling));
    auto length = by_name_.find(name + "#");
    if (length == by_name_.end() || index_of(length->second) == UINT64_MAX) {
      return bad_input(text("npz: ", types_member, " has no length ", quoted(name + "#")));
    }
    std::uint64_t count = index_of(length->second);
    if (type.kind == TypeKind::optional && count > 1) return bad_input(text("npz: the optional ", quoted(name), " has ", count, " items"));
    Sequence sequence{*type.element, {}};
    for (std::uint64_t i = 0; i < count; ++i) {
      IT_TRY(Value item, value(item_name(name, i), depth + 1));
      if (!suits(item.type(), *type.element)) {
        return bad_input(text("npz: ", quoted(item_name(name, i)), " is ", to_string(item.type()), ", not an item of ", spelling));
      }
      sequence.items.push_back(std::move(item));
    }
    if (type.kind == TypeKind::sequence) return Value(std::move(sequence));
    Optional optional{*type.element, nullptr};
    if (count == 1) optional.item = std::make_shared<const Value>(std::move(sequence.items.front()));
    return Value(std::move(optional));
  }

  // The same type but for shapes; an empty sequence may not know what it would hold.
  static bool suits(const Type& item, const Type& element) {
    if (item.kind == TypeKind::unknown || element.kind == TypeKind::unknown) return true;
    if (item.kind != element.kind || item.dtype != element.dtype) return false;
    return !item.element || !element.element || suits(*item.element, *element.element);
  }

  Result<Value> value(const std::string& name, int depth) {
    auto found = by_name_.find(name);
    if (found != by_name_.end() && is_composite(found->second)) return composite(name, found->second, depth);
    IT_TRY(Tensor tensor, read_tensor(name));
    return Value(std::move(tensor));
  }

  Result<Tensor> read_tensor(const std::string& name) {
    auto found = unread_.find(name);
    if (found == unread_.end()) return bad_input(text("npz: there is no member ", quoted(text(name, suffix))));
    const ZipMember& member = *found->second;
    unread_.erase(found);
    IT_TRY_VOID(within(member.name, charge(member.size)));
    IT_TRY(ZipBytes content, read_zip_member(file_, owner_, member));
    NpyLimits limits{left_, std::nullopt};
    auto spelling = by_name_.find(name);
    if (spelling != by_name_.end()) {
      limits.dtype = parse_dtype(spelling->second);
      if (!limits.dtype) return bad_input(text("npz: ", types_member, ": ", quoted(name), " has an unknown type ", quoted(spelling->second)));
    }
    IT_TRY(Tensor tensor, within(member.name, read_npy(content.bytes, content.owner, limits)));
    if (limits.dtype && *limits.dtype != tensor.dtype()) {
      return bad_input(text("npz: ", quoted(name), " is ", infini::name(tensor.dtype()), ", but ", types_member, " says ", spelling->second));
    }
    if (tensor.dtype() == DType::str) IT_TRY_VOID(charge(static_cast<std::uint64_t>(tensor.count()) * sizeof(std::string)));
    return tensor;
  }

  // Takes from the limit what a member needs.
  Status charge(std::uint64_t bytes) {
    if (bytes > left_) return bad_input("npz: the values take more than the limit");
    left_ -= bytes;
    return {};
  }

  std::span<const std::byte> file_;
  const std::shared_ptr<const void>& owner_;
  std::uint64_t left_;
  std::vector<ZipMember> members_;
  NpzTypes types_;
  std::map<std::string, std::string> by_name_;
  std::map<std::string, const ZipMember*> unread_;
};

}  // namespace

Result<NamedValues> read_npz(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, std::uint64_t limit) {
  return Reader(bytes, owner, limit).run();
}

Result<NamedValues> load_npz(const std::string& path, std::uint64_t limit) {
  if (Result<MappedFile> file = path == "-" ? io_error("not a file") : MappedFile::open(path)) {
    return within(path, read_npz(file->bytes(), file->owner(), limit));
  }
  IT_TRY(std::vector<std::byte> bytes, read_file(path, limit, [limit](std::span<const std::byte> begin) -> Result<std::uint64_t> {
    if (begin.size() < 2 || begin[0] != std::byte{'P'} || begin[1] != std::byte{'K'}) return bad_input("npz: not a zip file");
    return limit;
  }));
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return within(path, read_npz(*owner, owner, limit));
}

Status save_npz(const std::string& path, const NamedValues& values, bool deflate) {
  IT_TRY(FileWriter file, FileWriter::open(path));
  ZipWriter zip([&](std::span<const std::byte> bytes) { return file.write(bytes); }, deflate);
  Writer writer(zip);
  for (const auto& [name, value] : values) IT_TRY_VOID(writer.add(name, value));
  IT_TRY_VOID(writer.finish());
  return file.commit();
}

}  // namespace infini
