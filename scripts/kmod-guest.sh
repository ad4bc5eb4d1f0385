#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: kmod-guest.sh BUILD KERNEL   KERNEL: 6.1, 6.12, ...: one that
# "ilb vm fetch" got. Makes BUILD/kmod/KERNEL.ko, the module for it. Its headers
# come from where the kernel came from, checked and not installed, into the
# same cache, once. The last line that it writes says why, if it cannot.
set -eu
cd "$(dirname "$0")/.."
build=$1 kernel=$2
cache=${ILB_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ilb/vm}
arch=$(dpkg --print-architecture)

fail() {
	echo "$*" >&2
	exit 1
}

release=$("$build/ilb" vm list | awk -v arch="$arch" -v kernel="$kernel" '
	$1 == arch && index($2 "-", kernel) == 1 &&
	substr($2, length(kernel) + 1) !~ /^[0-9]/ { print $2 }' |
	sort -V | tail -n 1)
[ -n "$release" ] || fail "no such kernel; ilb vm fetch $kernel"
headers=$cache/headers/$release
kdir=$headers/usr/src/linux-headers-$release

# The states of apt that "ilb vm fetch" keeps, one a suite.
apt() {
	state=$1 program=$2
	shift 2
	"$program" -q -o Dir::Etc::SourceList="$state/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$state/lists" \
		-o Dir::State::Status="$state/status" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o APT::Sandbox::User=root "$@"
}

parts() {	# what else has parts of these headers
	apt "$1" apt-cache depends --important "linux-headers-$release" |
		sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p'
}

fetch() {
	for state in "$cache"/apt/*-"$arch"; do
		apt "$state" apt-cache show "linux-headers-$release" \
			>/dev/null 2>&1 || continue
		rm -rf "$headers.new"
		mkdir -p "$headers.new/debs"
		# shellcheck disable=SC2046
		(cd "$headers.new/debs" && apt "$state" apt-get download \
			"linux-headers-$release" $(parts "$state")) ||
			fail "linux-headers-$release: apt cannot download it"
		for deb in "$headers.new"/debs/*.deb; do
			dpkg-deb -x "$deb" "$headers.new"
		done
		rm -rf "$headers.new/debs" "$headers"
		# It names the headers of all flavours by where they belong.
		sed -i "s|/usr/src/|$headers&|" \
			"$headers.new/usr/src/linux-headers-$release/Makefile"
		mv "$headers.new" "$headers"
		return
	done
	fail "the archive has no linux-headers-$release (any more); remove" \
		"$cache/$arch/$release and run ilb vm fetch $kernel"
}

[ -e "$kdir/Makefile" ] || fetch
compiler=$(sed -n 's/^CC *=.* .*)\([^ ]*\)$/\1/p' "$kdir/.kernelvariables")
command -v "$compiler" >/dev/null ||
	fail "its headers want $compiler, which is not installed"
make -s kmod KDIR="$kdir" KMOD_BUILD="$build/kmod-$kernel" ||
	fail "the module does not build for $release"
mkdir -p "$build/kmod"
cp "$build/kmod-$kernel/ilb_fix.ko" "$build/kmod/$kernel.ko"
