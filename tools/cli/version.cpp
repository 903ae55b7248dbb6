#include "libcore/base/text.h"
#include "libcore/plugin/it_backend.h"
#include "tools/cli/options.h"

namespace infini::cli {

std::string version(std::string_view tool) {
  return text(tool, " (InfiniTensor) ", IT_VERSION, "\nLicence: Apache-2.0\nCommit: ", IT_COMMIT, "\nBuild: ", IT_BUILD_TYPE, ", ", __VERSION__,
              "\nPlugin interface: ", IT_ABI, "\n");
}

}  // namespace infini::cli
