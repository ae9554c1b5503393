"""Completion scripts of the shells. They pass the words of the command line to gitmem and offer its answer.

gitmem answers with a line per value: a kind, the value and its description, separated by tabs. The kind is `plain`,
`part` (more may follow without a space), `file` or `folder` (the shell completes names of files by itself).
"""

from typing import Final

# The line is passed instead of the words, because bash splits words at `:` and `=`. Version 3.2, as on macOS, has
# neither `nosort` nor `compopt`; there, file names are offered whenever gitmem offers nothing.
BASH: Final = r"""
_gitmem_complete() {
    local kind value help
    COMPREPLY=()
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            plain) printf -v value %q "$value"; COMPREPLY+=("$value ") ;;
            part) printf -v value %q "$value"; COMPREPLY+=("$value") ;;
            file) compopt -o default +o nospace 2>/dev/null ;;
            folder) compopt -o dirnames +o nospace 2>/dev/null ;;
        esac
    done < <(_GITMEM_COMPLETE=bash _GITMEM_LINE="${COMP_LINE:0:COMP_POINT}" _GITMEM_BREAKS="$COMP_WORDBREAKS" "$1" 2>/dev/null)
}
complete -o nosort -o nospace -F _gitmem_complete gitmem 2>/dev/null ||
    complete -o default -o nospace -F _gitmem_complete gitmem
"""  # noqa: E501

# Without `compinit` in ~/.zshrc there is no `compdef`. The script then waits for the first prompt, because a later
# `compinit` in the same file would forget the registration.
ZSH: Final = r"""
#compdef gitmem
_gitmem() {
    local line kind value description
    local -a rows plain parts part_names
    local IFS=$' \t\n'
    rows=("${(@f)$(_GITMEM_COMPLETE=zsh _GITMEM_WORDS="${(F)${(@Q)words[1,CURRENT-1]}}"$'\n'"${(Q)PREFIX}" \
        ${~words[1]} 2>/dev/null)}")
    for line in $rows; do
        kind=${line%%$'\t'*} value=${${line#*$'\t'}%%$'\t'*} description=${line##*$'\t'}
        case $kind in
            plain) plain+=("${value//:/\\:}${description:+:$description}") ;;
            part) parts+=("$value") ;;
            file) compset -P '--*='; _files ;;
            folder) compset -P '--*='; _files -/ ;;
        esac
    done
    (( $#plain )) && _describe -V gitmem plain
    (( $#parts )) && compadd -S '' -a parts
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _gitmem "$@"
elif (( $+functions[compdef] )); then
    compdef _gitmem gitmem
else
    _gitmem_register() {
        precmd_functions=(${precmd_functions:#_gitmem_register})
        (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
        compdef _gitmem gitmem
    }
    typeset -ga precmd_functions
    precmd_functions+=(_gitmem_register)
fi
"""

FISH: Final = r"""
function __gitmem_complete
    set -l words (commandline -opc)
    set -l current (string trim --left --chars "\"'" -- (commandline -ct))
    set -l option (string match -r '^--[^=]+=' -- $current)
    set -l before (string join \n -- $words | string collect)
    set -l lines (env _GITMEM_COMPLETE=fish _GITMEM_WORDS="$before"\n"$current" $words[1] 2>/dev/null)
    for line in $lines
        set -l row (string split \t -- $line)
        switch $row[1]
            case plain part
                printf '%s\t%s\n' $row[2] "$row[3]"
            case file
                for path in (__fish_complete_path (string replace -- "$option" '' $current))
                    echo "$option$path"
                end
            case folder
                for path in (__fish_complete_directories (string replace -- "$option" '' $current) '')
                    echo "$option$path"
                end
        end
    end
end
complete --command gitmem --no-files --keep-order --arguments '(__gitmem_complete)'
"""

SCRIPTS: Final = {"bash": BASH, "zsh": ZSH, "fish": FISH}
"""Scripts by the name of the shell."""
