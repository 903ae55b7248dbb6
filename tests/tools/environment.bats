# it-check env: what is right is said, and what is wrong is one line with its cure.
load common

setup_file() {
    export models="$BATS_FILE_TMPDIR"
    build_plugins
}

# The one line that begins so, with a cure.
cured() { # BEGINNING WORDS CURE
    [ "$(count_lines "$1")" = 1 ] || { echo "not one line with: $1"; echo "$output"; return 1; }
    line=$(grep -F -- "$1" <<<"$output")
    [[ "$line" = "$1"*"$2"*"; cure: "*"$3"* ]] || { echo "$line"; echo "expected: $1 ... $2 ... cure: ... $3"; return 1; }
}

@test "a machine that is fit: every part, in less than 5 s" {
    start=$(date +%s%N)
    it-check env --json >env.json
    [ $((($(date +%s%N) - start) / 1000000)) -lt 5000 ]
    json 'd["fit"] and d["schema"] == "it-env/1" and 0 < d["seconds"] < 5 and all((line["verdict"] == "ok") == (line["cure"] == "") for line in d["lines"])' <env.json
    json 'set(line["subject"] for line in d["lines"]) >= {"build", "system", "library protobuf", "library onnx", "library yaml-cpp", "library spdlog", "library zlib", "processor",
        "cores", "instruction set", "peaks", "memory", "swap", "huge pages", "open files", "locked memory", "disk", "temporary folder", "device cpu", "device reference", "device null"}' <env.json
    # Any machine that runs this makes more than 0.1 GFLOP/s, and none more than 1 EFLOP/s.
    json '1e8 < d["measured"]["f32_flops_per_second"] < 1e18 and 1e7 < d["measured"]["copied_bytes_per_second"] < 1e16' <env.json
    json 'all(a["verdict"] == ("not taken" if a["device"] == "null" else "right") for a in d["answers"])' <env.json
    json 'len({a["family"] for a in d["answers"] if a["device"] == "cpu"}) >= 20 and d["facts"]["device.cpu.answers"].split()[0] == d["facts"]["device.cpu.answers"].split()[2]' <env.json
    run it-check env
    [ "$status" = 0 ]
    [ "$(grep -cvE '^(ok    |warn  ).+: .+' <<<"$output")" = 0 ]
}

@test "what the system says of itself" {
    it-check env --json >env.json
    [ "$(json_value facts cpu.cores)" = "$(getconf _NPROCESSORS_ONLN)" ]
    [ "$(json_value facts system.kernel)" = "$(uname -r)" ]
    [ "$(json_value facts limit.open_files)" = "$(ulimit -n)" ]
    [ "$(json_value facts library.libc.loaded)" = "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" ]
    protobuf=$(ldd "$IT_BIN/it-run" | awk '/libprotobuf/ { print $3 }')
    [ "$(json_value facts library.protobuf.loaded)" = "$(basename "$(readlink -f "$protobuf")")" ]
    for feature in avx2 fma avx512f; do
        [[ " $(json_value facts cpu.features) " = *" $feature "* ]] && said=yes || said=no
        grep -qw "$feature" /proc/cpuinfo && there=yes || there=no
        [ $said = $there ]
    done
}
json_value() { "$IT_PYTHON" -c 'import json, sys; d = json.load(open("env.json")); print(d[sys.argv[1]][sys.argv[2]])' "$@"; }

@test "the instruction set, and why not a higher one" {
    run it-check env
    if grep -qw avx512vl /proc/cpuinfo; then has_line "instruction set: cpu takes avx512"
    elif grep -qw avx2 /proc/cpuinfo; then has_line "instruction set: cpu takes avx2; isa=avx512 is more than this processor has: it lacks avx512f"
    else has_line "instruction set: cpu takes portable"; fi
}

@test "limits: cores, files, address space, temporary folder" {
    taskset -c 0 it-check env --json | json 'd["facts"]["cpu.cores_usable"] == "1" and "1 threads" in d["facts"]["device.cpu.description"]'
    run bash -c 'ulimit -Sn 100; it-check env'
    cured "warn  open files: limit 100" "weight files" "ulimit -n"
    if ! grep -q __asan_init "$IT_BIN/it-check"; then  # which reserves terabytes
        run bash -c 'ulimit -Sv 4000000; it-check env'
        cured "warn  address space: limit 4000000 KiB" "mapped" "ulimit -v"
    fi
    TMPDIR=/nosuch run it-check env
    cured "warn  temporary folder: /nosuch" "takes no file" "TMPDIR="
}

@test "a control group's share of the processors and memory" {
    unshare -m true 2>/dev/null || skip "no mount namespaces here"
    unshare -m mount -t tmpfs none /sys/fs/cgroup || skip "no mounts here"
    run unshare -m bash -ec '
        mount -t tmpfs none /sys/fs/cgroup
        echo "0::/outer/inner" >/sys/fs/cgroup/groups
        mkdir -p /sys/fs/cgroup/outer/inner
        echo "max 100000" >/sys/fs/cgroup/outer/inner/cpu.max
        echo "50000 100000" >/sys/fs/cgroup/outer/cpu.max
        echo 536870912 >/sys/fs/cgroup/outer/memory.max
        echo max >/sys/fs/cgroup/outer/inner/memory.max
        bash -c "mount --bind /sys/fs/cgroup/groups /proc/\$\$/cgroup; exec it-check env"'
    cured "warn  cores: " "the control group allows the time of 0.5" "--threads 1"
    cured "warn  memory: " "the control group allows 512.0 MiB" "1 GiB"
}

@test "required and not there: path, cause, cure" {
    run it-check env --require cpu
    [ "$status" = 0 ]
    run it-check env --require cpu,cuda
    [ "$status" = 1 ]
    folder=$(realpath "$IT_BIN/..")/lib/infinitensor/backends
    if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
        cured "fail  device cuda: " "looked for $folder/libcuda.so; its driver libcuda.so.1 is not found either" "install the NVIDIA driver"
    fi
    mkdir driver backends
    echo 'int cuInit(unsigned flags) { return (int)flags; }' >driver.c
    cc -shared -fPIC driver.c -o driver/libcuda.so.1 -Wl,-soname,libcuda.so.1
    LD_LIBRARY_PATH=driver run it-check env --require cuda
    [ "$status" = 1 ]
    cured "fail  device cuda: " "there is no device 'cuda': known are cpu, reference, null; looked for $folder/libcuda.so" "build or copy the plugin to $folder/libcuda.so"
    has_no_line "its driver"
    if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
        echo 'extern int cuInit(unsigned); int call(void) { return cuInit(0); }' >plugin.c
        cc -shared -fPIC -Wl,--no-as-needed plugin.c -o backends/libcuda.so driver/libcuda.so.1
        run it-check env --require cuda --backend-dir backends
        [ "$status" = 1 ]
        cured "fail  device cuda: " "libcuda.so.1: cannot open shared object file" "install the NVIDIA driver"
    fi
    run it-check env --require nosuch --backend-dir /nosuch
    [ "$status" = 1 ]
    cured "fail  device nosuch: " "looked for /nosuch/libnosuch.so" "--backend-dir"
    run it-check env --require ./nosuch.so
    [ "$status" = 1 ]
    cured "fail  device ./nosuch.so: " "No such file" "copy"
    run it-check env --require cpu:3
    [ "$status" = 1 ]
    cured "fail  device cpu:3: " "cpu has 1" "--require cpu:0"
    run it-check env --require cpu,
    [ "$status" = 2 ]
}

@test "plugins: one that works, each way to be damaged, none of which is a crash" {
    mkdir backends
    cp "$plugins"/libmini*.so backends/
    head -c 5000 "$plugins/libmini.so" >backends/libcut.so
    echo text >backends/libtext.so
    cp "$plugins/libmini.so" backends/libholes.so
    dd if=/dev/zero of=backends/libholes.so bs=4096 seek=1 count=$(($(stat -c %s backends/libholes.so) / 4096 - 1)) conv=notrunc status=none
    echo 'extern int nosuch(void); int call(void) { return nosuch(); }' >lacks.c
    cc -shared -fPIC lacks.c -o backends/liblacks.so
    echo 'int nosuch(void) { return 0; }' >gone.c
    cc -shared -fPIC gone.c -o libgone.so -Wl,-soname,libgone.so.7
    cc -shared -fPIC -Wl,--no-as-needed lacks.c -L. -lgone -o backends/libneeds.so
    run it-check env --backend-dir backends
    [ "$status" = 1 ]  # those that end the process
    has_line "ok    device mini: Add, Mul, Relu and MatMul in f32, with a memory of its own; interface 1, version 1; 4 of 23 known answers right, the others it does not take"
    cured "warn  device mini_wrong_abi: " "version 2 of the plugin interface, this program 1" "rebuild"
    cured "warn  device mini_short_table: " "64 bytes" "rebuild"
    cured "warn  device mini_no_symbol: " "exports no it_backend_query" "rebuild"
    cured "warn  device mini_other_cxx_abi: " "cxx11=0" "rebuild"
    cured "warn  device mini_no_functions: " "NULL" "rebuild"
    cured "warn  device mini_other_sdk SDK: " "built for mini SDK 2.0, found mini SDK 1.0" "install mini SDK 2.0, or rebuild"
    cured "warn  device mini_no_driver: " "finds no device" "driver"
    cured "fail  device mini_wrong: " "Relu is WRONG: " "update or remove backends/libmini_wrong.so"
    cured "warn  device cut: " "is cut short" "copy backends/libcut.so again"
    cured "fail  device holes: " "signal" "remove backends/libholes.so"
    cured "warn  device text: " "cannot load plugin" "copy backends/libtext.so again"
    cured "warn  device lacks: " "undefined symbol: nosuch" "rebuild backends/liblacks.so"
    cured "warn  device needs: " "libgone.so.7: cannot open shared object file" "install the package that has libgone.so.7"
    cured "fail  device mini_aborts: " "signal 6 (ABRT)" "remove backends/libmini_aborts.so"
    cured "fail  device mini_exits: " "exit status 0" "remove backends/libmini_exits.so"
    for name in mini_wrong_abi cut needs mini_no_driver; do
        run it-check env --backend-dir backends --require $name --json
        [ "$status" = 1 ]
        json "any(line['subject'] == 'device $name' and line['verdict'] == 'fail' and line['cure'] for line in d['lines'])" <<<"$output"
    done
}

@test "provider modules: where each is, and what it lacks" {
    mkdir -p python/vendor folder
    echo 'int kernel(void) { return 1; }' >kernel.c
    cc -shared -fPIC kernel.c -o python/vendor/_C.abi3.so
    echo 'extern int kernel(void); int call(void) { return kernel(); }' >user.c
    cc -shared -fPIC user.c -o user.so
    cc -shared -fPIC kernel.c -o folder/libkernel.so -Wl,-soname,libkernel.so.1
    cc -shared -fPIC -Wl,--no-as-needed user.c -Lfolder -lkernel -o needs.so
    echo 'extern void* PyExc_ValueError; void** error = &PyExc_ValueError;' >extension.c
    cc -shared -fPIC extension.c -o extension.so
    echo 'static __attribute__((constructor)) void die(void) { __builtin_trap(); }' >dies.c
    cc -shared -fPIC dies.c -o dies.so
    touch python/vendor/__init__.py
    export PYTHONPATH=$PWD/python
    run it-check env --provider-modules vendor._C,./user.so
    [ "$status" = 0 ]
    has_line "ok    provider vendor._C: loads from $PWD/python/vendor/_C.abi3.so"
    has_line "ok    provider ./user.so: loads from "
    run it-check env --provider-modules ./user.so,./needs.so,./extension.so,./dies.so,vendor,nosuch.module,./nosuch.so,kernel.c.so
    [ "$status" = 1 ]
    cured "fail  provider ./user.so: " "undefined symbol: kernel" "name the library that has kernel before it"
    cured "fail  provider ./needs.so: " "libkernel.so.1: cannot open shared object file" "install the package that has libkernel.so.1"
    cured "fail  provider ./extension.so: " "undefined symbol: PyExc_ValueError" "libpython3"
    cured "fail  provider ./dies.so: " "ends the process by signal" "remove it"
    cured "fail  provider vendor: " "is Python source, $PWD/python/vendor/__init__.py" "extension module"
    cured "fail  provider nosuch.module: " "looked for nosuch/module[.*].so in $PWD/python" "PYTHONPATH"
    cured "fail  provider ./nosuch.so: " "./nosuch.so: cannot open shared object file" "file that is there"
    cured "fail  provider kernel.c.so: " "kernel.c.so: cannot open" "a name that the loader finds"
    ln -s libkernel.so folder/libkernel.so.1
    LD_LIBRARY_PATH=folder it-check env --provider-modules ./needs.so
}

@test "the matrix: the same on every run, and compared" {
    it-check env --emit=yaml >here.yaml
    it-check env --emit=yaml | cmp - here.yaml
    "$IT_PYTHON" - <<'PYTHON'
import json
keys = []
for line in open("here.yaml"):  # each line is two JSON texts, which are YAML texts
    key, end = json.JSONDecoder().raw_decode(line)
    assert line[end:end + 2] == ": " and isinstance(json.loads(line[end + 2:]), str), line
    keys.append(key)
assert keys == sorted(keys) and len(keys) > 40, keys
PYTHON
    run it-check env --expect-env here.yaml
    [ "$status" = 0 ]
    has_line "ok    matrix: this machine is as here.yaml says"
    sed -e 's/^"cpu.model": .*/cpu.model: Another One/' -e '/^"system.kernel"/d' -e '$a only.there: "1"' here.yaml >there.yaml
    run it-check env --expect-env there.yaml
    [ "$status" = 1 ]
    model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
    has_line "fail  matrix: 2 facts are not as there.yaml says; cure: "
    has_line "      cpu.model: here ${model:-unknown processor}, expected Another One"
    has_no_line "system.kernel"
    has_line "      only.there: here nothing, expected 1"
    it-check env --expect-env there.yaml --json >env.json || true
    json 'not d["fit"] and [e["key"] for e in d["differences"]] == ["cpu.model", "only.there"] and d["differences"][0]["expected"] == "Another One"' <env.json
}

@test "a matrix that is malformed or hostile is one message and status 3" {
    refused() { # SENTENCE
        run --separate-stderr it-check env --expect-env bad.yaml
        [ "$status" = 3 ]
        [ -z "$output" ]
        [[ "$stderr" = "it-check: bad.yaml: "*"$1"* && "$stderr" != *$'\n'* ]] || { echo "$stderr"; return 1; }
    }
    : >bad.yaml; refused "expected a map"
    echo '- a' >bad.yaml; refused "expected a map"
    echo 'a: [1' >bad.yaml; refused ""
    printf 'a: 1\nb: {c: 2}\n' >bad.yaml; refused "line 2: expected KEY: VALUE"
    printf '[a]: 1\n' >bad.yaml; refused "line 1: expected KEY: VALUE"
    printf 'a: 1\na: 2\n' >bad.yaml; refused "line 2: \"a\" stands there twice"
    printf '&a [*a, *a]: *a\n' >bad.yaml; refused ""
    "$IT_PYTHON" -c 'print("a: " + "[" * 100000)' >bad.yaml; refused ""
    "$IT_PYTHON" -c 'print("a: " + "{b: " * 20000)' >bad.yaml; refused ""
    "$IT_PYTHON" -c 'print("a0: &a0 [x]"); [print(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]") for i in range(1, 64)]' >bad.yaml; refused "line 1: expected"
    head -c 1000 /dev/urandom | tr -d '\0' >bad.yaml; refused ""
    head -c 2000000 /dev/zero >bad.yaml
    run it-check env --expect-env bad.yaml
    [ "$status" = 3 ]
    [ "$output" = "it-check: bad.yaml is larger than the limit of 1048576 bytes" ]
    run it-check env --expect-env nosuch.yaml
    [ "$status" = 3 ]
}

# A library in place of libprotobuf: what the loader would end the process for, and what runs with it.
@test "a wrong protobuf library is one line and a cure" {
    mkdir stub
    echo 'int nothing;' >stub.c
    cc -shared -fPIC stub.c -o stub/libprotobuf.so.32 -Wl,-soname,libprotobuf.so.32
    real=$(readlink -f "$(ldd "$IT_BIN/it-run" | awk '/libprotobuf/ { print $3 }')")
    LD_LIBRARY_PATH=stub run -127 it-run --version  # the loader's
    for way in "LD_LIBRARY_PATH=stub" "LD_PRELOAD=stub/libprotobuf.so.32"; do
        run env "$way" it-check env
        [ "$status" = 1 ]
        cured "fail  library protobuf: built against " "stub/libprotobuf.so.32; " "take $PWD/stub out of LD_LIBRARY_PATH or LD_PRELOAD"
        has_line "undefined symbol: "
        run --separate-stderr env "$way" it-check graph "$digits"
        [ "$status" = 5 ]
        [[ "$stderr" = "it-check: library protobuf: "*"; cure: take "* ]]
        run env "$way" it-check env --json
        [ "$status" = 1 ]
        json 'not d["fit"] and len(d["lines"]) == 1 and d["lines"][0]["verdict"] == "fail"' <<<"$output"
    done
    echo text >stub/libprotobuf.so.32
    LD_LIBRARY_PATH=stub run it-check env
    [ "$status" = 1 ]
    cured "fail  library protobuf: built against " "stub/libprotobuf.so.32: " "LD_LIBRARY_PATH"
    rm stub/libprotobuf.so.32
    cp "$real" stub/libprotobuf.so.32.0.99
    ln -s libprotobuf.so.32.0.99 stub/libprotobuf.so.32
    LD_LIBRARY_PATH=stub run it-check env
    [ "$status" = 0 ]
    cured "warn  library protobuf: built against " "loaded $PWD/stub/libprotobuf.so.32.0.99" "take $PWD/stub out of"
}

@test "no protobuf library at all" {
    unshare -m true 2>/dev/null || skip "no mount namespaces here"
    real=$(readlink -f "$(ldd "$IT_BIN/it-run" | awk '/libprotobuf/ { print $3 }')")
    run unshare -m bash -c "mount --bind /dev/null '$real' && it-check env"
    [ "$status" = 1 ]
    cured "fail  library protobuf: built against " "file too short" "apt-file search libprotobuf.so.32"
}

@test "a protobuf runtime that refuses our version" {
    cat >other.cpp <<'CPP'
#include <google/protobuf/stubs/common.h>
#include <stdexcept>
// What the runtime does with headers that are too old for it, in its words.
namespace google::protobuf::internal {
void VerifyVersion(int, int, const char* file) {
  throw FatalException(file, 1, "This program was compiled against version 3.21.12 of the Protocol Buffer runtime library, which is not compatible with the installed version (9.9.9).");
}
}
CPP
    "$IT_CXX" -shared -fPIC other.cpp -o other.so -Wl,--no-as-needed -lprotobuf 2>log || skip "no protobuf headers"
    LD_PRELOAD=$PWD/other.so run it-check env
    [ "$status" = 1 ]
    cured "fail  protobuf runtime: built with " "not compatible with the installed version (9.9.9)" "install the runtime of that version"
}

@test "in a bare chroot, without /proc" {
    unshare -m mount -t tmpfs none /proc 2>/dev/null || skip "no mounts here"
    ! grep -q __asan_init "$IT_BIN/it-run" || skip "the sanitizer itself needs /proc"
    run unshare -m bash -c 'mount -t tmpfs none /proc; exec it-check env'
    [ "$status" = 0 ]
    cured "warn  /proc: " "not mounted" "mount -t proc proc /proc"
    run unshare -m bash -c 'mount -t tmpfs none /proc; exec it-run -d nosuch "$0"' "$digits"
    [ "$status" = 2 ]
    has_line "looked for $(realpath "$IT_BIN/..")/lib/infinitensor/backends/libnosuch.so"
}

@test "what makes no sense" {
    for words in "env $digits" "env --emit=yaml --json" "graph $digits --emit=yaml" "graph $digits --expect-env x.yaml" "graph $digits --provider-modules x" "env --emit=json"; do
        run it-check -q $words
        [ "$status" = 2 ]
    done
}
