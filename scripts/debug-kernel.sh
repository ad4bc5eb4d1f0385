#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: debug-kernel.sh [--kasan] [BUILD]
# A kernel of Debian's source that checks itself (lockdep, RCU, sleeping in
# atomic context; with --kasan also memory), and the module for it, in BUILD
# (build-debug-kernel): half an hour, 3 GB. For: docs/fix.md, "What was tried".
set -eu
cd "$(dirname "$0")/.."
source=linux-source-6.12
kasan=
[ "${1:-}" != --kasan ] || { kasan=y; shift; }
build=${1:-build-debug-kernel}

fail() {
	echo "debug-kernel.sh: $*" >&2
	exit 1
}

for program in apt-get dpkg-deb xz flex bison bc gcc make; do
	command -v $program >/dev/null || fail "$program is missing; needed:" \
		"gcc make flex bison bc xz-utils libelf-dev"
done
mkdir -p "$build"
build=$(cd "$build" && pwd)
fragment=$PWD/tests/vm/debug.config
tree=$build/$source

fetch() {
	rm -rf "$tree" "$build/unpacked" "$build/$source"_*.deb
	(cd "$build" && apt-get -q download "$source")
	dpkg-deb -x "$build/$source"_*.deb "$build/unpacked"
	tar -C "$build" -xf "$build/unpacked/usr/src/$source.tar.xz"
	rm -r "$build/unpacked" "$build/$source"_*.deb
	touch "$tree/.complete"
}

configure() {
	make -s -C "$tree" O="$build/out" tinyconfig
	(cd "$build/out" && "$tree/scripts/kconfig/merge_config.sh" -m \
		.config "$build/wanted" >merge.log)
	make -s -C "$tree" O="$build/out" olddefconfig
	lost=$(grep '^CONFIG_' "$build/wanted" |
		grep -vxFf "$build/out/.config" | tr '\n' ' ' || true)
	[ -z "$lost" ] || fail "$source does not take: $lost"
	mv "$build/wanted" "$build/fragment"
}

[ -e "$tree/.complete" ] || fetch
{ cat "$fragment"; [ -z "$kasan" ] || echo CONFIG_KASAN=y; } >"$build/wanted"
cmp -s "$build/wanted" "$build/fragment" || configure
nice -n 10 make -s -C "$tree" O="$build/out" -j2 bzImage modules
cp "$build/out/arch/x86/boot/bzImage" "$build/vmlinuz"
make -s kmod KDIR="$build/out" KMOD_BUILD="$build/kmod"
echo "ilb vm --kernel $build/vmlinuz --with $build/kmod/ilb_fix.ko --with" \
	"tests/vm/soak.sh --append nohz_full=2-3 -- soak.sh"
