#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "libcore/base/text.h"
#include "libcore/expr/expr.h"
#include "libcore/expr/lower.h"
#include "libcore/expr/traverse.h"

namespace infini::expr {
namespace {

// How tightly the outermost operator of a text binds.
enum Binding : int { loosest, by_or, by_xor, by_and, by_equality, by_order, by_shift, by_sum, by_product, by_sign, atom };

struct Infix {
  Op op;
  std::string_view sign;
  Binding binding;
};
constexpr Infix infixes[] = {
    {Op::logical_or, " || ", by_or},
    {Op::logical_xor, " ^ ", by_xor},
    {Op::logical_and, " && ", by_and},
    {Op::eq, " == ", by_equality},
    {Op::lt, " < ", by_order},
    {Op::le, " <= ", by_order},
    {Op::shift_left, " << ", by_shift},
    {Op::shift_right, " >> ", by_shift},
    {Op::add, " + ", by_sum},
    {Op::sub, " - ", by_sum},
    {Op::mul, " * ", by_product},
    {Op::div, " / ", by_product},
    {Op::floor_div, " // ", by_product},
    {Op::floor_mod, " % ", by_product},
};

struct Text {
  std::string text;
  int binding = atom;
};

// A shared term longer than this, or any longer than the second, gets a name of its own.
constexpr std::size_t longest_shared = 24;
constexpr std::size_t longest_inline = 300;

class Printer {
 public:
  Printer(int first_iter, std::size_t rank, const Ref& body) : body_(body), terms_(postorder(body)) {
    name_iters(first_iter, static_cast<int>(rank));
    for (const Term* term : terms_) {
      for (const Ref& arg : term->args) ++users_[arg.get()];
    }
  }

  // Lines "let e0 = ..." into `out`; returns the text of the body.
  std::string print(std::string& out) {
    for (const Term* term : terms_) {
      Text written = write(*term);
      bool shared = users_[term] > 1 && written.text.size() > longest_shared;
      if (term != body_.get() && (shared || written.text.size() > longest_inline)) {
        std::string name = text("e", named_++);
        out += text("  let ", name, " = ", written.text, "\n");
        written = {name, atom};
      }
      texts_[term] = std::move(written);
    }
    return texts_[body_.get()].text;
  }

  std::string iter(std::int64_t number) const {
    auto found = iters_.find(number);
    return found == iters_.end() ? text("unbound", number) : found->second;
  }

 private:
  void name_iters(int first_iter, int rank) {
    for (int i = 0; i < rank; ++i) add_iter(first_iter + i);
    std::set<std::int64_t> others;
    for (const Term* term : terms_) {
      if (is_reduction(term->op)) others.insert(term->integer);
    }
    for (std::int64_t number : others) add_iter(number);
  }

  void add_iter(std::int64_t number) {
    constexpr std::string_view letters = "ijklmnopqrsuvwxyz";  // t is for tensors
    std::size_t at = iters_.size();
    std::string name(1, letters[at % letters.size()]);
    if (at >= letters.size()) name += text(at / letters.size());
    iters_.emplace(number, std::move(name));
  }

  std::string operand(const Term& term, std::size_t i, int at_least) const {
    const Text& inner = texts_.at(term.args[i].get());
    return inner.binding >= at_least ? inner.text : "(" + inner.text + ")";
  }

  std::string list(const Term& term) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < term.args.size(); ++i) parts.push_back(operand(term, i, loosest));
    return join(parts, ",");
  }

  static Text write_literal(const Term& term) {
    std::string out;
    if (is_floating(term.dtype)) {
      out = term.dtype == DType::f64 ? text(term.real) : text(static_cast<float>(term.real));
      if (out.find_first_not_of("-0123456789") == std::string::npos) out += ".0";
    } else if (term.dtype == DType::boolean) {
      out = text(term.integer != 0);
    } else {
      out = term.dtype == DType::u64 ? text(static_cast<std::uint64_t>(term.integer)) : text(term.integer);
    }
    return {out, out[0] == '-' ? by_sign : atom};
  }

  Text write_cast(const Term& term) const {
    std::string out = text(name(term.dtype), "(", operand(term, 0, loosest));
    if (!term.rule.saturate) out += ", unsaturated";
    if (term.rule.rounding == Rounding::up) out += ", up";
    if (term.rule.rounding == Rounding::down) out += ", down";
    return {out + ")"};
  }

  static Text write_dim(const Dim& dim) {
    bool simple = dim.is_constant() || dim.symbol_name().has_value();
    return {dim.to_string(), simple ? atom : loosest};
  }

  // Reductions that are one share one list of variables.
  Text write_reduction(const Term& term) const {
    std::string head = text(name(term.op), "(");
    std::string variable = text(head, iter(term.integer), " < ", term.dim.to_string());
    std::string body = operand(term, 0, loosest);
    bool continued = continues(term, *term.args[0]) && body.starts_with(head);
    return {continued ? variable + ", " + body.substr(head.size()) : variable + ") " + body, loosest};
  }

  Text write(const Term& term) const {
    if (term.op == Op::literal) return write_literal(term);
    if (term.op == Op::dim) return write_dim(term.dim);
    if (term.op == Op::iter) return {iter(term.integer)};
    if (term.op == Op::read) return {text("t", term.integer, "[", list(term), "]")};
    if (term.op == Op::cast) return write_cast(term);
    if (term.op == Op::neg) return {"-" + operand(term, 0, by_sign), by_sign};
    if (term.op == Op::logical_not) return {"!" + operand(term, 0, by_sign), by_sign};
    if (is_reduction(term.op)) return write_reduction(term);
    for (const Infix& infix : infixes) {
      if (infix.op != term.op) continue;
      return {text(operand(term, 0, infix.binding), infix.sign, operand(term, 1, infix.binding + 1)), infix.binding};
    }
    return {text(name(term.op), "(", list(term), ")")};
  }

  const Ref& body_;
  std::vector<const Term*> terms_;
  std::map<std::int64_t, std::string> iters_;
  std::unordered_map<const Term*, int> users_;
  std::unordered_map<const Term*, Text> texts_;
  int named_ = 0;
};

std::string print_definition(std::size_t number, const Definition& definition) {
  std::string out;
  Printer printer(definition.first_iter, definition.type.shape.size(), definition.body);
  std::string body = printer.print(out);
  std::vector<std::string> iters;
  for (std::size_t axis = 0; axis < definition.type.shape.size(); ++axis)
    iters.push_back(printer.iter(definition.first_iter + static_cast<int>(axis)));
  return out + text("t", number, "[", join(iters, ","), "] = ", body, "  : ", name(definition.type.dtype), to_string(definition.type.shape), "\n");
}

std::string print_requirement(const Requirement& requirement) {
  std::string out;
  Printer printer(requirement.first_iter, requirement.box.size(), requirement.condition);
  std::string condition = printer.print(out);
  std::vector<std::string> box;
  for (std::size_t axis = 0; axis < requirement.box.size(); ++axis) {
    box.push_back(text(printer.iter(requirement.first_iter + static_cast<int>(axis)), " < ", requirement.box[axis].to_string()));
  }
  return out + text("require(", join(box, ", "), ") ", condition, "  : ", quoted(requirement.message), "\n");
}

}  // namespace

std::string to_string(const Program& program) {
  std::string out;
  std::size_t number = program.inputs.size();
  for (const Definition& definition : program.definitions) out += print_definition(number++, definition);
  for (const Requirement& requirement : program.requirements) out += print_requirement(requirement);
  return out;
}

}  // namespace infini::expr
