/* The skeleton of a backend: memory works, every operator is unsupported. Copy this folder, then fill in candidates, prepare and launch.
 * See it-backend(7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcore/plugin/it_backend.h"

struct it_device { int unused; };

static it_status say(it_status status, it_message error, const char* text) {
  if (error.size) snprintf(error.text, error.size, "%s", text);
  return status;
}
static it_status device_count(int32_t* count, it_message error) { (void)error; *count = 1; return IT_OK; }
static it_status open_device(int32_t index, const it_option* options, size_t count, it_device** device, it_message error) {
  (void)options;
  if (index != 0) return say(IT_INVALID, error, "there is one null device, number 0");
  if (count != 0) return say(IT_INVALID, error, "the null device takes no options");
  *device = calloc(1, sizeof **device);
  return *device ? IT_OK : say(IT_OUT_OF_MEMORY, error, "no memory for a device");
}
static void close_device(it_device* device) { free(device); }
static it_status describe(it_device* device, it_device_info* info, it_message error) {
  (void)device, (void)error;
  snprintf(info->name, sizeof info->name, "null");
  snprintf(info->description, sizeof info->description, "memory works, every operator is unsupported");
  info->host_memory = 1;
  return IT_OK;
}
static it_status allocate(it_device* device, size_t bytes, void** memory, it_message error) {
  (void)device;
  *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);
  return *memory ? IT_OK : say(IT_OUT_OF_MEMORY, error, "out of memory");
}
static void release(it_device* device, void* memory) { (void)device; free(memory); }
static it_status copy(it_device* device, it_stream* stream, void* to, size_t to_offset, const void* from, size_t from_offset, size_t bytes, it_message error) {
  (void)device, (void)stream, (void)error;
  memmove((char*)to + to_offset, (const char*)from + from_offset, bytes);
  return IT_OK;
}
static it_status upload(it_device* d, it_stream* s, void* to, size_t offset, const void* from, size_t bytes, it_message e) { return copy(d, s, to, offset, from, 0, bytes, e); }
static it_status download(it_device* d, it_stream* s, void* to, const void* from, size_t offset, size_t bytes, it_message e) { return copy(d, s, to, 0, from, offset, bytes, e); }
static it_status candidates(it_device* device, const it_region* region, it_offer offer, it_message reason) {
  (void)device, (void)region, (void)offer;
  return say(IT_UNSUPPORTED, reason, "the null device runs nothing");
}

static const it_backend table = {.abi = IT_ABI, .struct_size = sizeof(it_backend), .facts = {"null", "1", __VERSION__, "", "", ""},
    .device_count = device_count, .open = open_device, .close = close_device, .describe = describe, .allocate = allocate, .release = release,
    .upload = upload, .download = download, .copy = copy, .candidates = candidates};

const it_backend* it_backend_query(uint32_t max_abi) { return max_abi >= IT_ABI ? &table : NULL; }
