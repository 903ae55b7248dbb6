// Einsum: y[output labels] = sum over the other labels of the product of the operands, each read at its own labels.
#include <algorithm>
#include <array>
#include <cctype>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

// Letters are labels by their character; axes of the ellipsis are labels 256, 257, ... counted from the last one.
using Labels = std::vector<int>;
constexpr int ellipsis = 256;

struct Equation {
  std::vector<Labels> operands;
  Labels output, summed;
  std::vector<std::pair<int, Dim>> extents;

  Dim* find(int label) {
    for (auto& [known, dim] : extents) {
      if (known == label) return &dim;
    }
    return nullptr;
  }
};

std::string without_spaces(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c != ' ') out += c;
  }
  return out;
}

// The labels of one term whose tensor has `rank` axes; for the output, `rank` counts the letters and the ellipsis's axes.
Result<Labels> parse_term(std::string_view term, std::size_t rank) {
  auto letters = static_cast<std::size_t>(std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; }));
  bool open = letters != term.size();
  if (letters > rank || (!open && letters != rank)) return bad_input(text("term '", term, "' does not fit a tensor of rank ", rank));
  Labels out;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      if (term.substr(i, 3) != "..." || term.find('.', i + 3) != std::string_view::npos) return bad_input(text("term '", term, "' has a malformed ellipsis"));
      for (std::size_t axis = rank - letters; axis > 0; --axis) out.push_back(ellipsis + static_cast<int>(axis) - 1);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      out.push_back(static_cast<unsigned char>(term[i]));
    } else {
      return bad_input(text("term ", quoted(term), " holds a character that is no letter"));
    }
  }
  return out;
}

Status note_extents(Equation& e, const Labels& labels, const Shape& shape) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Dim* known = e.find(labels[i]);
    if (!known) {
      e.extents.emplace_back(labels[i], shape[i]);
    } else if (*known == Dim(1)) {
      *known = shape[i];
    } else if (!(shape[i] == Dim(1))) {
      std::string label = labels[i] < ellipsis ? std::string(1, static_cast<char>(labels[i])) : "...";
      IT_TRY(*known, same_dim(*known, shape[i], text("label '", label, "'")));
    }
  }
  return {};
}

// Without "->": the ellipsis, then the letters that occur once, in the order of their characters.
Labels implicit_output(const Equation& e, std::size_t open_axes) {
  Labels out, all;
  for (std::size_t axis = open_axes; axis > 0; --axis) out.push_back(ellipsis + static_cast<int>(axis) - 1);
  for (const Labels& labels : e.operands) all.insert(all.end(), labels.begin(), labels.end());
  std::sort(all.begin(), all.end());
  for (int label : all) {
    if (label < ellipsis && std::count(all.begin(), all.end(), label) == 1) out.push_back(label);
  }
  return out;
}

Result<Labels> explicit_output(Equation& e, std::string_view term, std::size_t open_axes) {
  auto letters = static_cast<std::size_t>(std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; }));
  bool open = letters != term.size();
  if (!open && open_axes > 0) return bad_input(text("the output term '", term, "' lacks the ellipsis of the operands"));
  IT_TRY(Labels out, parse_term(term, letters + (open ? open_axes : 0)));
  for (int label : out) {
    if (!e.find(label)) return bad_input(text("label '", std::string(1, static_cast<char>(label)), "' of the output occurs in no operand"));
    if (std::count(out.begin(), out.end(), label) > 1) return bad_input(text("label '", std::string(1, static_cast<char>(label)), "' occurs twice in the output"));
  }
  return out;
}

// All operands have known ranks.
Result<Equation> parse(const OpContext& context) {
  std::string equation = without_spaces(context.attributes().text("equation"));
  std::size_t arrow = equation.find("->");
  std::vector<std::string> terms = split(std::string_view(equation).substr(0, arrow), ',');
  if (terms.size() != context.input_count()) return bad_input(text("equation '", equation, "' has ", terms.size(), " terms for ", context.input_count(), " inputs"));
  Equation e;
  std::size_t open_axes = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Shape& shape = *context.shape(i);
    IT_TRY(Labels labels, parse_term(terms[i], shape.size()));
    IT_TRY_VOID(within(text("equation '", equation, "', operand ", i, " of ", to_string(shape)), note_extents(e, labels, shape)));
    auto open = static_cast<std::size_t>(std::count_if(labels.begin(), labels.end(), [](int label) { return label >= ellipsis; }));
    open_axes = std::max(open_axes, open);
    e.operands.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    e.output = implicit_output(e, open_axes);
  } else {
    IT_TRY(e.output, explicit_output(e, std::string_view(equation).substr(arrow + 2), open_axes));
  }
  for (const auto& [label, dim] : e.extents) {
    if (std::find(e.output.begin(), e.output.end(), label) == e.output.end()) e.summed.push_back(label);
  }
  return e;
}

Shape extents_of(Equation& e, const Labels& labels) {
  Shape out;
  for (int label : labels) out.push_back(*e.find(label));
  return out;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (context.input_count() == 0) return bad_input("has no input, expected at least one");
  DType dtype = context.dtype(0);
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.shape(i)) return one(Type::tensor(dtype));
  }
  IT_TRY(Equation e, parse(context));
  return one(Type::tensor(dtype, extents_of(e, e.output)));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(Equation e, parse(context));
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, extents_of(e, e.output), [&](Meaning& m, const Indices& at) {
    auto product = [&](const Indices& inner) {
      auto position = [&](int label) {
        auto found = std::find(e.output.begin(), e.output.end(), label);
        if (found != e.output.end()) return at[static_cast<std::size_t>(found - e.output.begin())];
        return inner[static_cast<std::size_t>(std::find(e.summed.begin(), e.summed.end(), label) - e.summed.begin())];
      };
      Expr all;
      for (std::size_t i = 0; i < e.operands.size(); ++i) {
        Indices read;
        for (int label : e.operands[i]) read.push_back(position(label));
        Expr factor = wide(m.in(i).broadcast(read));
        all = all ? all * factor : factor;
      }
      return all;
    };
    return cast(dtype, m.reduce(Op::sum, extents_of(e, e.summed), product));
  });
}

constexpr std::array<int, 2> versions = {12, 28};
constexpr std::array<Param, 1> inputs = {Param{"Inputs", dtypes::numeric, "T", Arity::variadic}};
constexpr std::array<Param, 1> outputs = {Param{"Output", dtypes::numeric, "T"}};
constexpr std::array<AttributeDef, 1> attributes = {required_attribute("equation", AttributeKind::text)};

const std::array table = {OpDef{"Einsum", "Sums of products by labelled axes", versions, inputs, outputs, attributes, infer, meaning}};

}  // namespace

std::span<const OpDef> einsum_ops() { return table; }

}  // namespace infini
