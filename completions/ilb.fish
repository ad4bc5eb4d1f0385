# SPDX-License-Identifier: GPL-2.0-only
# fish: what may follow is asked of ilb itself, see cmd/complete.c.

function __ilb_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete $words[2..-1] 2>/dev/null)
        switch $line
            case '<file>'
                __fish_complete_path (commandline -ct)
            case '<dir>'
                __fish_complete_directories (commandline -ct)
            case '<command>'
                __fish_complete_command
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c ilb -f -a '(__ilb_complete)'
