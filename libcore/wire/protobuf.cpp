#include "libcore/wire/protobuf.h"

#include <google/protobuf/stubs/common.h>
#include <google/protobuf/stubs/logging.h>

#include "libcore/base/text.h"

namespace infini {

std::string protobuf_built_version() { return google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION); }

Status check_protobuf() {
  google::protobuf::LogHandler* before = google::protobuf::SetLogHandler(nullptr);  // the words are in the exception as well
  Status status;
  try {  // protobuf throws; nothing of it passes this line
    GOOGLE_PROTOBUF_VERIFY_VERSION;
  } catch (const std::exception& e) {
    status = unsupported(std::string(trim(std::string_view(e.what()))));
  }
  google::protobuf::SetLogHandler(before);
  return status;
}

}  // namespace infini
