#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# core/ and model/ need no host: three memory functions, no system header.
#
#	freestanding.sh SOURCE_ROOT CC [ARGUMENT...]
#
# Prints TAP. Each check is also shown a planted fault that it has to find.

set -u
src=$1
shift
cc=$*
nm=${NM:-nm}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
n=0
failed=0

# Nothing may be printed by the command: what is, is the complaint.
silent() { # DESCRIPTION COMMAND...
	what=$1
	shift
	found=$("$@" 2>&1)
	n=$((n + 1))
	if [ -z "$found" ]; then
		echo "ok $n - $what"
		return
	fi
	echo "not ok $n - $what"
	echo "$found" | sed 's/^/# /'
	failed=1
}

# The command has to print exactly this.
prints() { # DESCRIPTION EXPECTED COMMAND...
	what=$1
	expected=$2
	shift 2
	found=$("$@" 2>&1)
	n=$((n + 1))
	if [ "$found" = "$expected" ]; then
		echo "ok $n - $what"
		return
	fi
	echo "not ok $n - $what"
	echo "# expected: $expected"
	echo "# found: $found"
	failed=1
}

# What FILE... leave undefined once linked with each other, apart from the
# three functions that a freestanding compiler may call. Not position
# independent, as that would need the loader's tables.
strangers() { # OPTIMISATION FILE...
	level=$1
	shift
	rm -rf "$tmp/obj"
	mkdir "$tmp/obj"
	for file; do
		$cc -std=gnu11 "$level" -ffreestanding -fno-stack-protector \
			-fno-pic -I"$src" -I"$src/include" -c "$file" \
			-o "$tmp/obj/$(echo "$file" | tr / _).o" || return
	done
	$cc -nostdlib -r -o "$tmp/all" "$tmp"/obj/*.o || return
	"$nm" -u "$tmp/all" |
		awk '$2 !~ /^(memcpy|memset|memcmp)$/ { print $2 }'
}

# Includes of FILE... other than core/env.h and ilb/*.h.
foreign_includes() { # FILE...
	grep -hE '^[[:space:]]*#[[:space:]]*include' "$@" |
		grep -vE '"(core/env|ilb/[a-z_]+)\.h"'
}

# Mentions of the kernel build outside of core/env.h.
kernel_tests() { # FILE...
	for file; do
		[ "$file" = "$src/core/env.h" ] && continue
		grep -H __KERNEL__ "$file"
	done
}

# Headers of core/ beside env.h would escape the check of includes.
other_headers() {
	ls "$src"/core/*.h | grep -v '/core/env\.h$'
}

model=$(ls "$src"/model/*.c 2>/dev/null)

echo 1..12
for level in -O0 -O2; do
	silent "core/ links alone, $level" strangers $level "$src"/core/*.c
	silent "core/ and model/ link alone, $level" \
		strangers $level "$src"/core/*.c $model
done
silent "core/ has no header but env.h" other_headers
silent "core/ includes core/env.h and ilb/*.h only" \
	foreign_includes "$src"/core/*.c
silent "__KERNEL__ stands in core/env.h only" \
	kernel_tests "$src"/core/*.[ch] "$src"/model/* "$src"/include/ilb/*.h \
	"$src"/kmod/*.[ch]
prints "core/env.h has one such test" 1 \
	grep -c __KERNEL__ "$src/core/env.h"

cat >"$tmp/host.c" <<'END'
#include <stdio.h>
# include "core/env.h"
#include "trace/source.h"
#ifdef __KERNEL__
#endif
int planted(int x);
int planted(int x) { return printf("%d\n", x); }
END
cat >"$tmp/need.c" <<'END'
#include <stddef.h>
#include "ilb/error.h"
int planted(void);
int planted(void) { return ilb_fail(NULL, ILB_ERR_BUG, "planted"); }
END
prints "a call of printf would be found" printf strangers -O0 "$tmp/host.c"
prints "a function of another room would be found" ilb_fail \
	strangers -O0 "$tmp/need.c"
prints "other includes would be found" \
	'#include <stdio.h>
#include "trace/source.h"' foreign_includes "$tmp/host.c"
prints "a further __KERNEL__ would be found" \
	"$tmp/host.c:#ifdef __KERNEL__" kernel_tests "$tmp/host.c"
exit $failed
