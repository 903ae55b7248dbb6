// npz_copy IN OUT [deflate]: reads IN and writes what it holds to OUT; both .npz or both .npy. For npz_crosscheck.py.
#include <cstdio>
#include <string_view>

#include "libcore/tensor/npy.h"
#include "libcore/tensor/npz.h"

using namespace infini;

namespace {

Status copy(const std::string& from, const std::string& to, bool deflate) {
  if (from.ends_with(".npz")) {
    IT_TRY(NamedValues values, load_npz(from, std::uint64_t{1} << 30));
    return save_npz(to, values, deflate);
  }
  IT_TRY(Tensor tensor, load_npy(from, {std::uint64_t{1} << 30, std::nullopt}));
  return save_npy(to, tensor);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Status status = copy(argv[1], argv[2], argc > 3 && std::string_view(argv[3]) == "deflate");
  if (!status) std::fprintf(stderr, "%s\n", status.error().text().c_str());
  return status ? 0 : status.error().kind == ErrorKind::unsupported ? 4 : 3;
}
