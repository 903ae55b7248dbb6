// onnx_roundtrip IN OUT [OPSET] [external]: imports a model and exports it again. For tests against other runtimes.
// Prints what is carried. Exit status: 3 if the import fails, 4 if the export does.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "libcore/onnx/onnx.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  infini::OpTable ops;
  infini::Result<infini::ImportReport> report = infini::import_onnx(std::string(argv[1]), {}, ops);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().text().c_str());
    return 3;
  }
  if (!report->carried.empty()) std::printf("%s\n", infini::to_string(report->carried).c_str());
  infini::ExportOptions options;
  if (argc > 3) options.opset = std::atoi(argv[3]);
  options.external_data = argc > 4;
  infini::Status done = infini::export_onnx(report->module, argv[2], options);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return 4;
}
