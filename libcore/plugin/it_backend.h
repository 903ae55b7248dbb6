/* The plugin boundary: a standalone C11 header. A backend is a library that exports one symbol, it_backend_query.
 *
 * Rules. Every struct that may grow starts with its size in bytes; a side reads no further than the size it was given.
 * All pointers in a region are read-only and belong to the host; they live as long as the call, unless said otherwise.
 * Neither side frees the other's memory. No exception, signal or exit crosses. Functions are called from one thread at a
 * time per device, except allocate / release. Text is UTF-8 with a length; an error text goes into the buffer that the
 * caller passes and is one sentence: what was found, what was expected.
 */
#ifndef IT_BACKEND_H
#define IT_BACKEND_H

#ifdef __cplusplus
#include <cstddef> /* tells which C++ library this is */
#endif
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IT_ABI 1

/* What a backend's facts say of its C++ library: nothing, if it is plain C or keeps that library to itself. */
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define IT_CXX_ABI "libstdc++ cxx11=1"
#elif defined(_GLIBCXX_USE_CXX11_ABI)
#define IT_CXX_ABI "libstdc++ cxx11=0"
#elif defined(_LIBCPP_VERSION)
#define IT_CXX_ABI "libc++"
#else
#define IT_CXX_ABI ""
#endif

typedef enum it_status {
  IT_OK = 0,
  IT_UNSUPPORTED = 1,   /* the device or this backend cannot do it; the message says why */
  IT_INVALID = 2,       /* the arguments contradict each other */
  IT_OUT_OF_MEMORY = 3,
  IT_DEVICE_FAILED = 4,
  IT_INTERNAL = 5
} it_status;

typedef struct it_text {
  const char* data;
  size_t size;
} it_text;

/* Where a failing call leaves its sentence, zero-terminated and cut to size. */
typedef struct it_message {
  char* text;
  size_t size;
} it_message;

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Element types: numbers of onnx.TensorProto.DataType (1 f32, 2 u8, 3 i8, ..., 26 i2). Packed types: first element in the low bits. */
typedef int32_t it_dtype;

typedef struct it_tensor {
  it_dtype dtype;
  int32_t rank;
  const int64_t* extents;
} it_tensor;

/* How a tensor's elements lie in memory, dense. order: axes from the outermost to the innermost; NULL means row-major.
 * Up to two blocks: axis block_axis[i] is cut into pieces of block_size[i], which lie innermost in that order (the last
 * piece padded with zeros); block_count 0 is the usual case. */
typedef struct it_layout {
  const int32_t* order;
  int32_t block_count;
  int32_t block_axis[2];
  int32_t block_size[2];
} it_layout;

/* ---- expressions: a meaning as plain records ----------------------------------------------------------------------- *
 * For backends that generate code. No region carries one yet: a backend that knows its operators by name needs nothing of this. */

/* Every tensor is a total function on integer indices and is 0 outside its extents. An instruction's operands are the
 * indices of earlier instructions; each result is rounded to its dtype. */
typedef enum it_op {
  IT_EX_FLOAT = 0,   /* literal f */
  IT_EX_INT = 1,     /* literal i */
  IT_EX_ITER = 2,    /* loop variable number i, as i64 */
  IT_EX_READ = 3,    /* tensor number i at the indices operands[a .. a+b): i64 each */
  IT_EX_CAST = 4,    /* a, to dtype; i: bit 0 no saturation, bits 1-2 rounding (0 nearest even, 1 up, 2 down) */
  IT_EX_SELECT = 5,  /* a ? b : c */
  IT_EX_SUM = 6,     /* reductions over loop variable i in [0, extent b of `bounds`): body a. Floats accumulate in f64 and are rounded once;
                      * one whose body is the same reduction in the same dtype is one with it: one accumulator, one rounding */
  IT_EX_PROD = 7,
  IT_EX_MAX = 8,
  IT_EX_MIN = 9,
  /* binary on operands a, b */
  IT_EX_ADD = 16, IT_EX_SUB, IT_EX_MUL, IT_EX_DIV, IT_EX_FLOOR_DIV, IT_EX_FLOOR_MOD, IT_EX_FMOD, IT_EX_POW,
  IT_EX_MINIMUM, IT_EX_MAXIMUM, IT_EX_EQ, IT_EX_LT, IT_EX_LE, IT_EX_AND, IT_EX_OR, IT_EX_XOR,
  IT_EX_SHIFT_LEFT, IT_EX_SHIFT_RIGHT, IT_EX_ATAN2,
  /* unary on operand a */
  IT_EX_NEG = 64, IT_EX_ABS, IT_EX_SIGN, IT_EX_NOT, IT_EX_EXP, IT_EX_LOG, IT_EX_SQRT, IT_EX_SIN, IT_EX_COS, IT_EX_TAN,
  IT_EX_ASIN, IT_EX_ACOS, IT_EX_ATAN, IT_EX_SINH, IT_EX_COSH, IT_EX_TANH, IT_EX_ASINH, IT_EX_ACOSH, IT_EX_ATANH,
  IT_EX_ERF, IT_EX_FLOOR, IT_EX_CEIL, IT_EX_ROUND_EVEN, IT_EX_TRUNC, IT_EX_IS_NAN, IT_EX_IS_INF, IT_EX_RECIPROCAL
} it_op;

typedef struct it_instr {
  int32_t op;
  it_dtype dtype;
  int32_t a, b, c;
  int64_t i;
  double f;
} it_instr;

/* Definition d is tensor number input_count + d; its elements are instruction `body`, for loop variables
 * first_iter .. first_iter + rank - 1 over its extents. */
typedef struct it_definition {
  it_tensor type;
  int32_t first_iter;
  int32_t body;
} it_definition;

typedef struct it_program {
  size_t struct_size;
  int32_t input_count;
  const it_tensor* inputs;
  int32_t instr_count;
  const it_instr* instrs;
  int32_t operand_count;
  const int32_t* operands;
  int32_t bound_count;
  const int64_t* bounds;
  int32_t definition_count;
  const it_definition* definitions;
  int32_t output_count;
  const int32_t* outputs;   /* tensor numbers */
} it_program;

/* ---- regions ------------------------------------------------------------------------------------------------------ */

struct it_region;

typedef enum it_attribute_kind {
  IT_ATTR_INT = 1, IT_ATTR_FLOAT, IT_ATTR_STRING, IT_ATTR_INTS, IT_ATTR_FLOATS, IT_ATTR_STRINGS, IT_ATTR_TENSOR, IT_ATTR_REGION
} it_attribute_kind;

typedef struct it_attribute {
  it_text name;
  it_attribute_kind kind;
  int64_t i;
  double f;
  it_text s;
  size_t count;               /* of ints, floats, strings */
  const int64_t* ints;
  const float* floats;
  const it_text* strings;
  it_tensor tensor;           /* kind IT_ATTR_TENSOR */
  const void* tensor_data;
  const struct it_region* region;
} it_attribute;

/* data: the bytes of a constant (row-major, host memory, perhaps unaligned), else NULL. Constants stay readable until the kernels
 * prepared from them are discarded. */
typedef struct it_value {
  it_tensor type;
  it_text name;
  const void* data;
  size_t data_size;
} it_value;

typedef struct it_node {
  it_text domain, op;         /* "" and ONNX's operator name at its newest opset, every attribute explicit */
  it_text name;
  int32_t input_count;
  const int32_t* inputs;      /* indices into the region's values; -1: left out */
  int32_t output_count;
  const int32_t* outputs;     /* -1: not wanted */
  int32_t attribute_count;
  const it_attribute* attributes;
} it_node;

/* One node, or several that one kernel should run; nodes in topological order, every extent a number. */
typedef struct it_region {
  size_t struct_size;
  int32_t value_count;
  const it_value* values;
  int32_t node_count;
  const it_node* nodes;
  int32_t input_count;        /* operands that are not constants */
  const int32_t* inputs;
  int32_t output_count;
  const int32_t* outputs;
} it_region;

/* ---- candidates ----------------------------------------------------------------------------------------------------- */

typedef enum it_numerics { IT_EXACT = 0, IT_ROUNDING = 1, IT_APPROX = 2, IT_LOSSY = 3 } it_numerics;

/* output `output` may share the memory of input `input` (same layout, same bytes); view: launch does nothing at all then. */
typedef struct it_in_place {
  int32_t input, output;
  int32_t view;
} it_in_place;

/* One way to run a region. Indices are positions in region.inputs / region.outputs. */
typedef struct it_candidate {
  size_t struct_size;
  int32_t id;                          /* given back to prepare */
  const char* kernel;                  /* for people: "conv3x3_nhwc_avx512" */
  const it_layout* input_layouts;      /* one per region input; NULL: all row-major */
  const it_layout* output_layouts;
  size_t workspace;                    /* bytes at launch */
  size_t packed;                       /* bytes of packed constants held by the kernel */
  int32_t in_place_count;
  const it_in_place* in_place;
  it_numerics numerics;
  double cost_ns;                      /* estimate, constants cold */
} it_candidate;

/* The host's ear for candidates: called once per candidate, which is copied before it returns. */
typedef struct it_offer {
  void* sink;
  void (*offer)(void* sink, const it_candidate* candidate);
} it_offer;

/* ---- the table -------------------------------------------------------------------------------------------------------- */

typedef struct it_device it_device;    /* opaque to the host */
typedef struct it_kernel it_kernel;
typedef struct it_stream it_stream;
typedef struct it_event it_event;
typedef struct it_graph it_graph;

typedef struct it_option {
  it_text key, value;
} it_option;

typedef struct it_device_info {
  size_t struct_size;
  char name[64];                       /* "cpu", "cuda:0" */
  char description[192];
  uint64_t memory_bytes;               /* 0: not known */
  int32_t host_memory;                 /* 1: allocate gives host-addressable memory and constants may be read in place */
  double flops_per_ns;                 /* f32 multiply-adds count 2; 0: not known */
  double bytes_per_ns;
} it_device_info;

typedef struct it_build_facts {
  const char* name;                    /* of the backend */
  const char* version;
  const char* compiler;
  const char* cxx_abi;                 /* IT_CXX_ABI; "": a plain C backend. Another than the program's is refused */
  const char* sdk_built_for;           /* "" where none */
  const char* sdk_found;
} it_build_facts;

typedef struct it_backend {
  uint32_t abi;                        /* first, and never moved */
  size_t struct_size;
  it_build_facts facts;

  it_status (*device_count)(int32_t* count, it_message error);
  it_status (*open)(int32_t index, const it_option* options, size_t option_count, it_device** device, it_message error);
  void (*close)(it_device* device);
  it_status (*describe)(it_device* device, it_device_info* info, it_message error);

  it_status (*allocate)(it_device* device, size_t bytes, void** memory, it_message error);  /* aligned to 64 at least */
  void (*release)(it_device* device, void* memory);
  it_status (*upload)(it_device* device, it_stream* stream, void* to, size_t offset, const void* from, size_t bytes, it_message error);
  it_status (*download)(it_device* device, it_stream* stream, void* to, const void* from, size_t offset, size_t bytes, it_message error);
  it_status (*copy)(it_device* device, it_stream* stream, void* to, size_t to_offset, const void* from, size_t from_offset, size_t bytes, it_message error);

  /* A NULL stream is the device's own; a backend without streams leaves these NULL and runs every call to its end. */
  it_status (*stream_create)(it_device* device, it_stream** stream, it_message error);
  void (*stream_destroy)(it_device* device, it_stream* stream);
  it_status (*stream_wait)(it_device* device, it_stream* stream, it_message error);
  it_status (*event_record)(it_device* device, it_stream* stream, it_event** event, it_message error);
  it_status (*event_wait)(it_device* device, it_stream* stream, it_event* event, it_message error);
  void (*event_destroy)(it_device* device, it_event* event);

  /* Every way to run the region here, in order of preference. None, with a reason in the message: IT_UNSUPPORTED. Truthful: what is
   * offered runs. */
  it_status (*candidates)(it_device* device, const it_region* region, it_offer offer, it_message reason);
  /* Builds the kernel of a candidate offered for this same region; packs constants. packed: bytes of an earlier export_packed, or NULL. */
  it_status (*prepare)(it_device* device, const it_region* region, int32_t id, const void* packed, size_t packed_bytes, it_kernel** kernel,
                       it_message error);
  void (*discard)(it_device* device, it_kernel* kernel);
  /* inputs and outputs in the order of the region, in the candidate's layouts. */
  it_status (*launch)(it_device* device, it_stream* stream, it_kernel* kernel, const void* const* inputs, void* const* outputs, void* workspace,
                      it_message error);

  /* Optional from here on: NULL where there is none. */
  it_status (*export_packed)(it_device* device, it_kernel* kernel, void* to, size_t bytes, it_message error);
  it_status (*capture_begin)(it_device* device, it_stream* stream, it_message error);
  it_status (*capture_end)(it_device* device, it_stream* stream, it_graph** graph, it_message error);
  it_status (*replay)(it_device* device, it_stream* stream, it_graph* graph, it_message error);
  void (*graph_destroy)(it_device* device, it_graph* graph);
  /* Moves a tensor from one layout to another; NULL: the host only plans row-major for this backend. */
  it_status (*reorder)(it_device* device, it_stream* stream, const it_tensor* type, const it_layout* from, const void* input, const it_layout* to,
                       void* output, it_message error);
} it_backend;

/* The one exported symbol: the table in the highest version that both sides speak, or NULL. */
typedef const it_backend* (*it_backend_query_function)(uint32_t max_abi);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const it_backend* it_backend_query(uint32_t max_abi);

#ifdef __cplusplus
}
#endif

#endif
