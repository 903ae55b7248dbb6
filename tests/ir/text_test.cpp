#include <bit>
#include <random>

#include "libcore/ir/element_text.h"
#include "libcore/ir/verify.h"
#include "libcore/tensor/element.h"
#include "tests/ir/helpers.h"

using namespace infini;
using namespace infini::testing;

namespace {

const OpTable ops;
const PrintOptions everything = {.constant_elements = 16, .all_constants = true, .origins = true};

// Printed, parsed and printed again: the same text.
void check_fixed_point(std::string_view source) {
  Module first = parsed(source);
  CHECK(failure(verify(first.graph)) == "");
  std::string once = print(first, everything);
  Module second = parsed(once);
  CHECK(failure(verify(second.graph)) == "");
  CHECK(print(second, everything) == once);
  CHECK(structure_digest(first.graph) == structure_digest(second.graph));
}

// As it stands here is how it is printed.
void check_printed(std::string_view source) { CHECK(print(parsed(source), everything) == source); }

std::string error_of(std::string_view source) { return failure(parse_text(source, ops)); }

// The constant %c alone in a graph.
std::string with_constant(std::string_view rest) { return text("graph \"\" () -> (%c) {\n  %c = constant ", rest, "\n}\n"); }

Tensor constant_of(std::string_view rest) {
  Graph graph = graph_of(with_constant(rest));
  return *graph.values()[0].constant->at_hand();
}

std::uint64_t bits_of(std::string_view rest) {
  Tensor tensor = constant_of(rest);
  return load_bits(tensor.dtype(), tensor.bytes().data(), 0);
}

// `attributes` of a carried node, printed again.
std::string attributes_again(std::string_view attributes) {
  std::string source = text("graph \"\" () -> () {\n  Op version 1 ()", attributes, "\n}\n");
  std::string out = print(parsed(source));
  std::size_t begin = out.find("()", out.find("Op version")) + 2;
  return out.substr(begin, out.find("\n}", begin) - begin);
}

}  // namespace

TEST_CASE("a whole module as it is printed") {
  check_printed(R"(graph "main" (
  %x: f32[batch,3,2*seq+1],
  %onnx::Conv_12: f32[?],
  %"a b\n": seq(optional(map(i64,str[n]))),
  %u: unknown
) -> (%y, %/layer.0/out:0) {
  symbol batch in 1..512
  symbol 'the length' in 0..
  metadata "producer" = "pytorch \"2.1\""
  %w = constant f32[3,2] {0.1, -0, 1e-45, 3.4028235e+38, inf, nan}
  %big = constant f32[64,3,7,7] file "dir/model.onnx" offset 1234 length 37632 size 99000 modified -5
  %gone = constant i64[2] absent digest 00112233445566778899aabbccddeeff
  %0 = Relu(%x) : f32[batch,3,2*seq+1] @ "r1" from 0
  %1, _, %y = com.example::Three version 4 overload "o" (%0, _, %u) {alpha = 0.5, "odd name" = [1, 2]} : f32[#0,batch], seq(f32[?]) from 0, 1
  "weird domain"::"Weird Op" version 0 (%1)
  %/layer.0/out:0 = Elu(%0) {alpha = 2.0} : f32[batch,3,2*seq+1]
}
sources {
  0 = [0] Relu "r1"
  1 = [3, 0, 12] "a::b" ""
}
ledger {
  "it-import" "0.1.0" "" after 00112233445566778899aabbccddeeff
  "it-opt" "0.1.0" "-O2 --passes=\"x\"" before 00112233445566778899aabbccddeeff after ffeeddccbbaa99887766554433221100
}
)");
}

TEST_CASE("nested graphs with captures") {
  check_printed(R"(graph "main" (
  %c: bool[],
  %x: f32[n]
) -> (%y) {
  %k = constant i64[1] {7}
  %y = com.example::Choose version 1 (%c) {
    all = graphs [graph "first" () captures (%x) -> (%x) {
    }, graph "second" () -> () {
    }],
    flag = 1,
    one = graph "one" (
      %i: i64[],
      %s: f32[#0]
    ) captures (%inner = %x, %k) -> (%r) {
      symbol m in 2..3
      %w = constant i64[17] {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
        17
      }
      %r = com.example::Again version 1 (%s, %w) {
        deeper = graph "deeper" () captures (%s, %outer = %inner) -> (%t) {
          %t = Relu(%outer) : f32[n] @ "deep"
        }
      } : f32[?]
    }
  } : f32[n] @ "choice"
}
)");
}

TEST_CASE("all kinds of attributes") {
  CHECK(attributes_again("{a = -3}") == " {a = -3}");
  CHECK(attributes_again("{a = 3.0, b = 1e30, c = -inf, d = nan, e = -0.0}") == " {a = 3.0, b = 1e+30, c = -inf, d = nan, e = -0.0}");
  CHECK(attributes_again("{a = real 0x7fc00001, b = reals [1, 0xffc00000, nan]}") == " {a = real 0x7fc00001, b = reals [1.0, 0xffc00000, nan]}");
  CHECK(attributes_again(R"({a = "x\x00\"\\\n\t'\xc3\xa9", b = ""})") == " {a = \"x\\x00\\\"\\\\\\n\\t'\xc3\xa9\", b = \"\"}");
  CHECK(attributes_again("{a = [1, -2], b = [1, 0.5], c = [\"x\", \"\"]}") == " {a = [1, -2], b = [1.0, 0.5], c = [\"x\", \"\"]}");
  CHECK(attributes_again("{a = ints [], b = reals [], c = texts [], d = tensors [], e = graphs []}") ==
        " {a = ints [], b = reals [], c = texts [], d = tensors [], e = graphs []}");
  CHECK(attributes_again("{a = type seq(f32[2,n]), b = tensor i4[3] {-8, 0, 7}, c = tensors [str[1] {\"s\"}, c64[1] {(1,-0)}]}") ==
        " {a = type seq(f32[2,n]), b = tensor i4[3] {-8, 0, 7}, c = tensors [str[1] {\"s\"}, c64[1] {(1,-0)}]}");
  CHECK(attributes_again("{}") == "");
}

TEST_CASE("what an attribute leaves open is decided by the operator") {
  Graph graph = graph_of("graph \"\" (%x: f32[2]) -> (%y) { %y = Elu(%x) {alpha = 2} }");
  CHECK(graph.nodes()[0].attributes.real("alpha") == 2.0f);
  std::string text = print(graph_of("graph \"\" (%x: f32[2]) -> (%y) { %y = Elu(%x) {alpha = 1.0} }"));
  CHECK(text.find("alpha") == std::string::npos);  // the default
}

TEST_CASE("every bit pattern of the narrow types, and many of the others, read back as they were") {
  std::mt19937_64 random(7);
  for (int number = 1; number < dtype_count; ++number) {
    auto dtype = static_cast<DType>(number);
    if (dtype == DType::str || is_complex(dtype)) continue;
    int width = info(dtype).bits;
    std::vector<std::uint64_t> patterns;
    std::uint64_t all = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    if (dtype == DType::boolean) all = 1;
    if (width <= 16) {
      for (std::uint64_t bits = 0; bits <= all; ++bits) patterns.push_back(bits);
    } else {
      for (int i = 0; i < 20000; ++i) patterns.push_back(random() & all & (i % 3 ? all : all >> (random() % 52)));
      for (double special : {0.0, -0.0, HUGE_VAL, -HUGE_VAL, double(NAN), 1e-320, 1e300}) patterns.push_back(std::bit_cast<std::uint64_t>(special) & all);
      for (float special : {-0.0f, HUGE_VALF, -HUGE_VALF, NAN, 1e-45f}) patterns.push_back(std::bit_cast<std::uint32_t>(special));
    }
    TensorWriter writer = value_of(TensorWriter::make(dtype, {static_cast<std::int64_t>(patterns.size())}));
    for (std::size_t i = 0; i < patterns.size(); ++i) store_bits(dtype, writer.bytes(), static_cast<std::int64_t>(i), patterns[i]);
    Tensor tensor = std::move(writer).finish();
    GraphBuilder builder;
    builder.add_output(builder.add_constant("c", make_constant(tensor)));
    std::string source = print(value_of(std::move(builder).build()), everything);
    Graph again = graph_of(source);
    INFO(name(dtype));
    CHECK(same(*again.values()[0].constant->at_hand(), tensor));
    CHECK(again.values()[0].constant->payload.index() == make_constant(tensor)->payload.index());
  }
}

TEST_CASE("floats are printed in their shortest form") {
  auto printed = [](DType dtype, double value) {
    TensorWriter writer = value_of(TensorWriter::make(dtype, {}));
    writer.set_double(0, value);
    return element_text(writer.tensor(), 0);
  };
  CHECK(printed(DType::f32, 0.1) == "0.1");
  CHECK(printed(DType::f64, 0.1) == "0.1");
  CHECK(printed(DType::f16, 0.1) == "0.1");
  CHECK(printed(DType::f16, 65504) == "65504");
  CHECK(printed(DType::bf16, 3.140625) == "3.14");
  CHECK(printed(DType::f8e4m3fn, 448) == "448");
  CHECK(printed(DType::f8e5m2, 57344) == "57344");
  CHECK(printed(DType::f4e2m1, -1.5) == "-1.5");
  CHECK(printed(DType::f32, 16777216) == "16777216");
}

TEST_CASE("elements are read exactly") {
  CHECK(bits_of("f32[] {0.1}") == 0x3dcccccd);
  CHECK(bits_of("f32[] {16777217}") == 0x4b800000);        // to even
  CHECK(bits_of("f32[] {1.00000005960464477540}") == 0x3f800001);  // just above the middle; through a double it would be the middle, and even
  CHECK(bits_of("f16[] {65504}") == 0x7bff);
  CHECK(bits_of("f32[] {0x7f800001}") == 0x7f800001);      // a signalling NaN
  CHECK(bits_of("u64[] {18446744073709551615}") == UINT64_MAX);
  CHECK(bits_of("i64[] {-9223372036854775808}") == std::uint64_t{1} << 63);
  CHECK(bits_of("bool[] {true}") == 1);
  CHECK(bits_of("u4[] {0xf}") == 15);
  CHECK(bits_of("f8e8m0[] {0x7f}") == 0x7f);
  CHECK(constant_of("str[2] {\"a\", \"\\x00\"}").strings() == std::vector<std::string>{"a", std::string(1, '\0')});
  CHECK(constant_of("f32[0,3] {}").count() == 0);
}

TEST_CASE("payloads") {
  auto payload = [](std::string_view rest) { return graph_of(with_constant(rest)).values()[0].constant->payload; };
  CHECK(std::holds_alternative<InlinePayload>(payload("f32[1] {1}")));
  CHECK(std::holds_alternative<OwnedPayload>(payload("f32[1] owned {1}")));
  CHECK(std::holds_alternative<MappedPayload>(payload("f32[1] mapped {1}")));
  CHECK(std::holds_alternative<FilePayload>(payload("f32[1] file \"m\" offset 0 length 4 size 4 modified 0")));
  CHECK(std::holds_alternative<AbsentPayload>(payload("f32[1] absent")));
  CHECK(std::holds_alternative<AbsentPayload>(payload("f32[1] ...")));
  CHECK(std::holds_alternative<AbsentPayload>(payload("f32[1] stream 3")));
  for (std::string_view rest : {"f32[1] owned {1}", "f32[1] mapped {1}", "f32[1] absent", "f32[1] {1} digest 00112233445566778899aabbccddeeff"}) {
    check_printed(with_constant(rest));
  }
  Module large = parsed(with_constant("u8[17] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}"));
  CHECK(print(large) == with_constant("u8[17] ..."));
}

TEST_CASE("printing and parsing settle at once") {
  check_fixed_point(R"(
// A comment, and names, types and blanks as a person writes them.
graph "g"(%x:f32[2, n],%a::b: f32[n , 4]) ->(%y){ symbol n in 1.. // up to any
  %m=MatMul(%x,%a::b)   %y, _ = Apply version 2 (%m, _) { b = graph "" () captures(%m) -> (%m) {} } : f32[?]
  _, %z, _ = Split version 3 (%m)
  Sink version 1 (%z)
})");
}

TEST_CASE("types in the text are checked against inference") {
  auto relu = [](std::string_view stated) { return error_of(text("graph \"\" (%x: f32[n,2]) -> (%y) {\n  %y = Relu(%x) : ", stated, "\n}")); };
  CHECK(relu("f32[n,2]") == "");
  CHECK(relu("f32[?]") == "");
  CHECK(relu("unknown") == "");
  CHECK(relu("f32[n,3]") == "line 2, column 19: found the type f32[n,3], inference gives f32[n,2]");
  CHECK(relu("f32[m,2]") == "line 2, column 19: found the type f32[m,2], inference gives f32[n,2]");
  CHECK(relu("f16[n,2]") == "line 2, column 19: found the type f16[n,2], inference gives f32[n,2]");
}

TEST_CASE("errors say where, what was found and what was expected") {
  auto in_graph = [](std::string_view items) { return error_of(text("graph \"\" (%x: f32[2]) -> (%x) {\n", items, "\n}")); };
  CHECK(error_of("") == "line 1, column 1: found the end, expected 'graph'");
  CHECK(error_of("graph g") == "line 1, column 7: found 'g', expected a text in quotes");
  CHECK(error_of("graph \"g\" () -> () {") == "line 1, column 21: found the end, expected '}'");
  CHECK(error_of("graph \"g\" () -> () {} more") == "line 1, column 23: found 'more', expected the end");
  CHECK(error_of("graph \"g") == "line 1, column 7: found \" with no other \" after it");
  CHECK(error_of("graph \"\\q\"") == "line 1, column 8: found \\q, expected one of \\n \\t \\\" \\' \\\\ \\xHH");
  CHECK(error_of("graph \"g\" (%x: f32[2], %x: f32[2]) -> () {}") == "line 1, column 24: 'x' is defined twice");
  CHECK(error_of("graph \"g\" (%x: f99[2]) -> () {}").starts_with("line 1, column 16: type: expected a type such as"));
  CHECK(error_of("graph \"g\" (%x: f32[-2]) -> () {}") == "line 1, column 16: found the dimension -2, expected none below 0");
  CHECK(error_of("graph \"g\" () -> (%y) {}") == "line 1, column 18: output 'y' is not defined in the graph");
  CHECK(in_graph("%y = Relu(%z)") == "line 2, column 11: 'z' is not defined before this");
  CHECK(in_graph("%x = Relu(%x)") == "line 2, column 1: 'x' is defined twice");
  CHECK(in_graph("%y, %y = Relu(%x)") == "line 2, column 5: 'y' is defined twice");
  CHECK(in_graph("%y = Rellu(%x)") == "line 2, column 6: no operator 'Rellu'; did you mean Relu? (one that is only carried names its version)");
  CHECK(in_graph("%y = Elu(%x) {alpha = 1.0, alpha = 2.0}") == "line 2, column 28: attribute 'alpha' is there twice");
  CHECK(in_graph("%y = Elu(%x) {beta = 1.0}") == "line 2, column 6: Elu (of 'y'): attribute 'beta' is not one of Elu");
  CHECK(in_graph("%y = MatMul(%x) @ \"mm\"") == "line 2, column 6: MatMul 'mm': input 1 ('B') is missing");
  CHECK(in_graph("Op version 1 () {a = []}") == "line 2, column 22: found an empty list, expected ints, reals or texts before it");
  CHECK(in_graph("Op version 1 () {a = [1, \"x\"]}") == "line 2, column 22: a list holds texts and numbers");
  CHECK(in_graph("%y = Relu(%x) from 0") == "line 2, column 20: found source 0, there are 0");
  CHECK(in_graph("symbol n in 3..2") == "line 2, column 16: found '2', expected an integer from 3 to 9223372036854775807");
  CHECK(in_graph("%c = constant f32[2] {1}") == "line 2, column 22: found 1 elements, expected 2 for f32[2]");
  CHECK(in_graph("%c = constant i8[1] {128}") == "line 2, column 22: found \"128\", expected an element of type i8");
  CHECK(in_graph("%c = constant f16[1] {1e6}") == "line 2, column 23: found \"1e6\", expected an element of type f16");
  CHECK(in_graph("%c = constant f32[n] {1}") == "line 2, column 15: found the type f32[n], expected a tensor with all its extents");
  CHECK(in_graph("%c = constant f32[4000000000,4000000000] absent").starts_with("line 2, column 15: "));
  CHECK(in_graph("%c = constant f32[1000000000000] {1}") == "line 2, column 34: found 1 elements, expected 1000000000000 for f32[1000000000000]");
  CHECK(in_graph("%a, %b = constant f32[1] {1}") == "line 2, column 10: found 'constant', expected an operator, since a constant has one name");
  CHECK(error_of("graph \"\" () -> () {\n} sources {\n  1 = [0] Relu \"\"\n}") == "line 3, column 3: found '1', expected an integer from 0 to 0");
}

TEST_CASE("graphs nest to a limit") {
  auto nested = [](int depth) {
    std::string open, close;
    for (int i = 0; i < depth; ++i) {
      open += "graph \"\" () -> () { Op version 1 () {b = ";
      close += "} }";
    }
    return open + "graph \"\" () -> () {}" + close;
  };
  CHECK(error_of(nested(32)) == "");
  CHECK(error_of(nested(33)).find("graphs are nested more than 32 deep") != std::string::npos);
  CHECK(error_of(nested(20000)).find("graphs are nested more than 32 deep") != std::string::npos);
}

TEST_CASE("fresh dimensions that the text names are not made anew") {
  Graph graph = graph_of("graph \"\" (%x: f32[2]) -> (%b) { %a = Op version 1 (%x) : i64[#4]  %b = Op version 1 (%x) : i64[#0] }");
  CHECK(to_string(graph.value(value_named(graph, "a")).type) == "i64[#4]");
}
