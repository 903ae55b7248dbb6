/* InfiniTensor as a library: import, optimise and run models from any language that can call C (C11 and later, C++).
 *
 *   it_import("model.onnx", NULL, &model);         an ONNX file, or it_read: an .itg file
 *   it_optimize(model, (const char*[]){"O=2", NULL}, &fast);
 *   it_open(fast, (const char*[]){"device=cpu", NULL}, &session);
 *   it_run(session, inputs, 1, &results);          then it_result(results, 0)
 *
 * Errors. A function that can fail returns NULL if it worked, else an error, which the caller frees; *out is left alone then.
 * Ownership. What a function makes (*out) is freed by the caller with the function of that type; freeing NULL does nothing. No order
 *   is needed: what another handle still uses lives on. What is passed in stays the caller's and is read during the call only.
 * Threads. Modules and results never change: any number of threads may use them. A session does one call at a time; others wait.
 * Options. A list of texts that ends in NULL: "key=value", or "key" for a switch; NULL is the empty list. Keys are the long options of
 *   the tools without their dashes, and mean the same (it-import(1), it-opt(1), it-run(1)); one that may be given several times there may
 *   be here. Unknown keys are an error.
 * Text is UTF-8. Nothing is printed, and the environment is not read. Two things end the process: a model file that is truncated while it
 *   is in use (SIGBUS: weights are mapped, not read), and a plugin that aborts (while it is opened, stderr says which).
 */
#ifndef INFINITENSOR_H
#define INFINITENSOR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define IT_PUBLIC __attribute__((visibility("default")))
#else
#define IT_PUBLIC
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of this interface; a library of another number does not fit programs compiled with this header. */
#define IT_API_VERSION 1
IT_PUBLIC uint32_t it_api_version(void);
/* Of the library: "0.1.0". */
IT_PUBLIC const char* it_version(void);

typedef struct it_error it_error;
typedef struct it_module it_module;   /* a graph with its weights, its history and test data */
typedef struct it_session it_session; /* a module on devices */
typedef struct it_results it_results; /* named tensors */

/* ---- errors ------------------------------------------------------------------------------------------------------------------------------ */

/* The exit status that the tools have for it: 2 usage, 3 bad input, 4 unsupported, 5 run failed (or I/O), 70 a bug of this library. */
IT_PUBLIC int it_error_status(const it_error* error);
/* What was found, what was expected, and where. Lives as long as the error. */
IT_PUBLIC const char* it_error_text(const it_error* error);
IT_PUBLIC void it_error_free(it_error* error);

/* ---- modules ----------------------------------------------------------------------------------------------------------------------------- */

/* An ONNX model. Options: dim, input-shapes, batch, from, to, no-weights, strict, with-test-data (it-import(1)). Weights stay in the
 * file and are mapped when they are needed. From memory they are copied. */
IT_PUBLIC it_error* it_import(const char* path, const char* const* options, it_module** out);
IT_PUBLIC it_error* it_import_bytes(const void* model, size_t size, const char* const* options, it_module** out);
/* An .itg file, as the tools write it. */
IT_PUBLIC it_error* it_read(const char* path, it_module** out);
/* The text form, as it_print gives it. */
IT_PUBLIC it_error* it_parse(const char* text, it_module** out);

/* Another module, transformed. Options: O (0 to 3; 2 unless said), passes, pipeline, stop-after, stop-after-pass, assume-finite (it-opt(1)). */
IT_PUBLIC it_error* it_optimize(const it_module* module, const char* const* options, it_module** out);

/* Writes an .itg file with weights and all. It appears under its name when it is complete. */
IT_PUBLIC it_error* it_write(const it_module* module, const char* path);
/* Writes an ONNX model. opset 0: the lowest that has every operator as it is. */
IT_PUBLIC it_error* it_export(const it_module* module, const char* path, int opset);
/* The graph as "text", "json" or "dot", for people and programs; freed with it_text_free. */
IT_PUBLIC it_error* it_print(const it_module* module, const char* form, char** out);
IT_PUBLIC void it_text_free(char* text);
/* The tensor of the constant of that name: one result. */
IT_PUBLIC it_error* it_constant(const it_module* module, const char* name, it_results** out);
/* What importing had to say, a line each: operators that are carried without being understood, and what was odd. Lives as long as the module. */
IT_PUBLIC const char* it_module_notes(const it_module* module);
IT_PUBLIC void it_module_free(it_module* module);

/* ---- tensors ----------------------------------------------------------------------------------------------------------------------------- */

/* Element types have the numbers of onnx.TensorProto.DataType. */
typedef enum it_element {
  IT_F32 = 1, IT_U8 = 2, IT_I8 = 3, IT_U16 = 4, IT_I16 = 5, IT_I32 = 6, IT_I64 = 7, IT_STR = 8, IT_BOOL = 9, IT_F16 = 10, IT_F64 = 11,
  IT_U32 = 12, IT_U64 = 13, IT_C64 = 14, IT_C128 = 15, IT_BF16 = 16, IT_F8E4M3FN = 17, IT_F8E4M3FNUZ = 18, IT_F8E5M2 = 19,
  IT_F8E5M2FNUZ = 20, IT_U4 = 21, IT_I4 = 22, IT_F4E2M1 = 23, IT_F8E8M0 = 24, IT_U2 = 25, IT_I2 = 26
} it_element;

/* An element of an IT_STR tensor. */
typedef struct it_string {
  const char* data;
  size_t size;
} it_string;

/* A dense tensor in row-major order. Elements of 4 and 2 bits are packed, the first in the low bits. Elements of IT_STR are it_strings. */
typedef struct it_array {
  const char* name;       /* which input or output */
  int32_t element;        /* it_element */
  int32_t rank;
  const int64_t* extents; /* rank numbers; may be NULL for rank 0 */
  const void* data;
  size_t bytes;           /* at data, in all */
} it_array;

/* ---- running ----------------------------------------------------------------------------------------------------------------------------- */

/* Opens devices. Options: device, fallback, threads, device-option, backend-dir (it-run(1)); plugins are looked for by name beside the library,
 * in infinitensor/backends. The graph runs as it is: optimise it first. */
IT_PUBLIC it_error* it_open(const it_module* module, const char* const* options, it_session** out);
/* Runs with one array for each input of the graph, found by name (a NULL name: by position). Sizes may differ from run to run; plans
 * are kept per sizes. Results are the graph's outputs in order. Unsupported: some output is no tensor, or no device takes some node. */
IT_PUBLIC it_error* it_run(it_session* session, const it_array* inputs, size_t count, it_results** out);
/* Which nodes went past the first device, grouped by reason; "" if none has so far. Lives until the next call with this session. */
IT_PUBLIC const char* it_session_notes(const it_session* session);
IT_PUBLIC void it_session_free(it_session* session);

IT_PUBLIC size_t it_result_count(const it_results* results);
/* NULL from the count up. What it points to lives as long as the results. */
IT_PUBLIC const it_array* it_result(const it_results* results, size_t index);
IT_PUBLIC void it_results_free(it_results* results);

#ifdef __cplusplus
}
#endif

#endif
