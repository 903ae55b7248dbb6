# Completion for fish: source this file. The options and what they do come from the tools.

function __it_options
    $argv[1] --help=json 2>/dev/null |
        sed -n 's/.*"names": \[\(.*\)\], "takes".*"help": "\(.*\)"}.*/\1\t\2/p' |
        awk -F '\t' '{ n = split($1, names, /, /); for (i = 1; i <= n; i++) { gsub(/"/, "", names[i]); print names[i] "\t" $2 } }'
end

for tool in it-import it-opt it-run it-check it-bench
    complete -c $tool -n 'string match -q -- "-*" (commandline -ct)' -a "(__it_options $tool)"
end
complete -c it-check -n 'test (count (commandline -opc)) -eq 1' -a 'graph outputs coverage diff env'
