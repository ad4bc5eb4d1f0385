# SPDX-License-Identifier: GPL-2.0-only
# bash: what may follow is asked of ilb itself, see cmd/complete.c.

_ilb()
{
	local cur=${COMP_WORDS[COMP_CWORD]} line
	local -a words=()

	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		'<file>') compopt -o filenames
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
				< <(compgen -f -- "$cur") ;;
		'<dir>') compopt -o filenames
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
				< <(compgen -d -- "$cur") ;;
		'<command>') mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
				< <(compgen -c -- "$cur") ;;
		*) words+=("${line%%$'\t'*}") ;;
		esac
	done < <("${COMP_WORDS[0]}" complete \
		"${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
		< <(compgen -W "${words[*]}" -- "$cur")
}
complete -F _ilb ilb
