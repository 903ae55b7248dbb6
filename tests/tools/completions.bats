# Completions: what the tools offer at the end of a line, and what each shell makes of it when Tab is pressed.
load common

# The words that a tool offers for a line.
offered() { "${1%% *}" --complete="$1" | tail -n +2 | grep -v $'^\t' | cut -f1 | paste -sd '|'; }
offers() { local said; said=$(offered "$1"); [ "$said" = "$2" ] || { echo "'$1' offers $said, expected $2"; return 1; }; }
# Which files may stand there.
files() { local said; said=$("${1%% *}" --complete="$1" | grep $'^\t' | tr '\t' '|'); [ "$said" = "$2" ] || { echo "'$1': files $said, expected $2"; return 1; }; }

@test "options: each name of --help=json, and each choice" {
    for tool in it-import it-opt it-run it-check it-bench; do
        known=$($tool --help=json | "$IT_PYTHON" -c 'import json, sys; print("|".join(n for o in json.load(sys.stdin)["options"] for n in o["names"]))')
        offers "$tool -" "$known"
        offers "$tool --color=" "--color=auto|--color=always|--color=never"
        offers "$tool --color a" "auto|always"
    done
    offers "it-run -O" "-O0|-O1|-O2|-O3"
    offers "it-run -O " "0|1|2|3"
    offers "it-opt --emit=o" "--emit=onnx"
    offers "it-run --help=" "--help=json"
    offers "it-run -- -" ""
}

@test "verbs, devices, passes" {
    offers "it-check " "graph|outputs|coverage|diff|env"
    offers "it-bench ab" "ab"
    offers "it-check graph g" ""
    offers "it-run -d " "cpu|reference|null"
    offers "it-run --device=cpu,r" "--device=cpu,reference"
    mkdir plugins && touch plugins/libmine.so
    offers "it-run --backend-dir plugins -d m" "mine"
    passes=$(it-opt --list-passes | sed -n 's/^\([a-z][a-z-]*\) .*/\1/p' | paste -sd '|')
    offers "it-opt --explain " "$passes"
    offers "it-opt --passes=fold,fix(canon,cs" "--passes=fold,fix(canon,cse"
}

@test "inputs, symbols and nodes of the graph on the line" {
    need_onnx
    cp "$models"/{awkward,lookup,colons}.onnx .
    offers "it-run awkward.onnx -i " "a\$b=|it's=|my input=|my:in/put=|say \"x\"="
    offers "it-run awkward.onnx -i my\\ " "my input="
    offers "it-run awkward.onnx -i \"my i" "my input="
    offers "it-import --input-shapes it\\'s colons.onnx" ""
    offers "it-run colons.onnx -i a:0=" "a:0=@|a:0=b="
    offers "it-run lookup.onnx --dim " "batch=|seq="
    offers "it-import lookup.onnx --dim s" "seq="
    offers "it-run -O0 --dump= awkward.onnx" ""
    offers "it-run -O0 awkward.onnx --dump " "node one|y"
    offers "it-import awkward.onnx --to=no" "--to=node one"
    # The model may stand behind the cursor, and in the home folder.
    offers $'it-run --dim \n lookup.onnx' "batch=|seq="
    HOME=$PWD offers "it-run ~/lookup.onnx --dim b" "batch="
    offers "it-run nosuch.onnx -i " ""
}

@test "files of the right kind" {
    files "it-run " "||.onnx .itg .txt"
    files "it-import " "||.onnx"
    files "it-bench ab a.itg b" "||.onnx .itg .txt"
    files "it-run a.itg b" ""
    files "it-run --expect=o" "|--expect=|.npz"
    files "it-opt --pipeline " "||.yaml"
    files "it-import --with-test-data " $'||/\n||.npz'
    files "it-run m.itg -i x:0=@" "|x:0=@|.npy .npz"
    files "it-run -d ./" "||.so"
    files "it-opt -o " "||"
}

# What is typed, and what the tool is then given. <TAB> is that key.
typed() {
    cat <<'END'
it-run --loa<TAB>x.npz                          => --load-inputs | x.npz
it-opt --emit=o<TAB>                            => --emit=onnx
it-opt --explain fuse-c<TAB>                    => --explain | fuse-conv-bn
it-check co<TAB>                                => coverage
it-run -d re<TAB>                               => -d | reference
it-run -d cpu,nu<TAB>                           => -d | cpu,null
it-run -d ./li<TAB>                             => -d | ./libmine.so
it-run awk<TAB>-q                               => awkward.onnx | -q
it-run some<TAB>-q                              => some words.itg | -q
it-run awkward.onnx -i my\ i<TAB>ones           => awkward.onnx | -i | my input=ones
it-run awkward.onnx -i my:<TAB>ones             => awkward.onnx | -i | my:in/put=ones
it-run awkward.onnx -i it<TAB>ones              => awkward.onnx | -i | it's=ones
it-run awkward.onnx -i say<TAB>ones             => awkward.onnx | -i | say "x"=ones
it-run awkward.onnx -i a<TAB>ones               => awkward.onnx | -i | a$b=ones
it-run awkward.onnx --input=my:<TAB>ones        => awkward.onnx | --input=my:in/put=ones
it-run awkward.onnx -i my:<TAB>@vec<TAB>        => awkward.onnx | -i | my:in/put=@vector.npy
it-run awkward.onnx -O0 --dump node<TAB>        => awkward.onnx | -O0 | --dump | node one
it-run lookup.onnx --dim ba<TAB>3               => lookup.onnx | --dim | batch=3
it-run -i my: awkward.onnx<LEFT 13><TAB>ones    => -i | my:in/put=ones | awkward.onnx
it-run -O3 --expect=./arr<TAB>                  => -O3 | --expect=./array.npz
END
}

press_tab() { # SHELL
    command -v "$1" || skip "no $1"
    need_onnx
    cp "$models"/{awkward,lookup}.onnx .
    touch vector.npy vector.txt libmine.so "some words.itg" array.npz array.npy
    typed | if [ "$1" = fish ]; then grep -v LEFT; else cat; fi >lines  # fish shows what is behind the cursor to nobody
    sed 's/ *=> .*//' lines >keys
    sed 's/.*=> //' lines >expected
    "$IT_PYTHON" "$IT_ROOT/tests/tools/terminal.py" "$1" <keys >given
    diff expected given
}

@test "bash" { press_tab bash; }
@test "zsh" { press_tab zsh; }
@test "fish" { press_tab fish; }

@test "a pipe is not read" {
    mkfifo pipe.onnx
    timeout 10 it-run --complete="it-run pipe.onnx -i "
    exec 5<>pipe.onnx # open, and nothing comes
    timeout 10 it-run --complete="it-run /dev/stdin -i " <&5
}
