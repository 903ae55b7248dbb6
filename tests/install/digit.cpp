// Imports, optimises and runs a model: digit MODEL.onnx < 64 floats, the image of a digit; prints the likeliest one.
#include <infinitensor/infinitensor.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

static void check(it_error* error) {
  if (!error) return;
  std::fprintf(stderr, "digit: %s\n", it_error_text(error));
  std::exit(it_error_status(error));
}

int main(int argc, char** argv) {
  float image[64];
  if (argc != 2 || std::fread(image, sizeof image, 1, stdin) != 1) return 2;

  it_module *model, *fast;
  check(it_import(argv[1], nullptr, &model));
  const char* level[] = {"O=2", nullptr};
  check(it_optimize(model, level, &fast));

  it_session* session;
  check(it_open(fast, nullptr, &session));
  const int64_t extents[] = {1, 1, 8, 8};
  it_array input = {"image", IT_F32, 4, extents, image, sizeof image};
  it_results* results;
  check(it_run(session, &input, 1, &results));

  const it_array* output = it_result(results, 0);
  const float* likely = static_cast<const float*>(output->data);
  std::printf("%td\n", std::max_element(likely, likely + 10) - likely);
  it_results_free(results);
  it_session_free(session);
  it_module_free(fast);
  it_module_free(model);
}
