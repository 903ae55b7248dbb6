#!/bin/sh
# Who may include what: each folder of the repository sees those listed for it, and nothing else of ours. Names the file and the rule.
set -eu
cd "$(dirname "$0")/../.."
bad=0
check() { # FOLDER ALLOWED-REGEX
    offenders=$(grep -rnE '^#include "(libcore|passes|backends|tools)/' "$1" --include='*.h' --include='*.cpp' --include='*.c' --include='*.inl' 2>/dev/null |
        grep -vE "#include \"($2)" || true)
    [ -z "$offenders" ] || { printf '%s\nrule: %s may include only %s\n' "$offenders" "$1" "$2"; bad=1; }
}
check libcore/base 'libcore/base/'
check libcore/tensor 'libcore/(base|tensor)/'
check libcore/expr 'libcore/(base|tensor|expr)/|libcore/plugin/it_backend.h'
check libcore/ops 'libcore/(base|tensor|expr|ops)/'
check libcore/ir 'libcore/(base|tensor|expr|ops|ir)/'
check libcore/wire 'libcore/(base|tensor|expr|ops|ir|wire)/'
check libcore/onnx 'libcore/(base|tensor|expr|ops|ir|onnx)/'
check libcore/plugin 'libcore/(base|plugin)/'
check libcore/exec 'libcore/(base|tensor|expr|ops|ir|plugin|exec)/'
check libcore/verify 'libcore/'
check passes 'libcore/|passes/'
check backends/cpu 'libcore/(plugin|base|tensor|expr)/|backends/(cpu|codegen)/'
check backends/null 'libcore/plugin/it_backend.h'
check backends/reference 'libcore/(plugin|base|tensor|expr|ops)/|backends/reference/'
protobuf=$(grep -rlE '#include [<"](google/protobuf|graph\.pb\.h|onnx/)' libcore passes backends tools --include='*.h' --include='*.cpp' | grep -vE '^libcore/(wire|onnx)/' || true)
[ -z "$protobuf" ] || { printf '%s\nrule: protobuf is for libcore/wire and libcore/onnx\n' "$protobuf"; bad=1; }
exit $bad
