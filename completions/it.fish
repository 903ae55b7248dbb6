# Completion for fish: source this file. What may stand where is what the tools say (--complete).
# They see the line up to the cursor only: fish shows no more.

function __it_complete
    set -l before (commandline -opc)
    command -q $before[1]; or return
    set -l quoted "'"(string replace -a -- "'" "'\\''" $before)"'"
    set -l word (commandline -ct)
    set -l lines (command $before[1] --complete="$quoted $word" 2>/dev/null)
    set -l words no
    for line in $lines[2..-1]
        set -l parts (string split \t -- $line)
        if test -n "$parts[1]"
            set words yes
            printf '%s\n' $line
            continue
        end
        # Files behind the prefix that end so; all, where neither these nor words fit.
        set -l path (string sub -s (math (string length -- $parts[2]) + 1) -- $lines[1])
        set -l suffixes (string split -n ' ' -- $parts[3])
        set -l fit
        for file in $path*
            if test -d $file
                set -a fit $file/
            else
                for suffix in $suffixes
                    string match -q -- "*$suffix" $file; and set -a fit $file
                end
            end
        end
        test (count $fit) -gt 0 -o "$words" = yes; or set fit $path*
        for file in $fit
            printf '%s\n' $parts[2]$file
        end
    end
end

for tool in it-import it-opt it-run it-check it-bench
    complete -c $tool -f -a '(__it_complete)'
end
