#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: deps.sh GROUP...   GROUP: build, check, bench, fuzz, ci, cross, deb,
# vm
# Installs the Debian packages of these groups that are missing, if run as root
# on a system with apt-get; else prints the one command to run.
set -eu

build="gcc meson ninja-build pkg-config libc6-dev libtracecmd-dev
	libtraceevent-dev libtracefs-dev libbpf-dev libhwloc-dev
	libjansson-dev libzstd-dev zlib1g-dev libsmartcols-dev libcmocka-dev
	libarchive-dev libelf-dev clang bpftool"
check="python3 python3-jsonschema trace-cmd mandoc binutils xz-utils
	spin"
bench="linux-perf trace-cmd valgrind bpftool bpftrace libsimgrid-dev"
fuzz="clang llvm"
ci="clang llvm git"
cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
deb="debhelper dh-dkms dpkg-dev git lintian"
vm="apt dpkg debian-archive-keyring busybox-static trace-cmd"

clang_runtime() {	# libFuzzer and the sanitizers' runtime of this clang
	apt-cache depends clang 2>/dev/null |
		sed -n 's/.*Depends: clang-\([0-9]*\)$/libclang-rt-\1-dev/p'
}

installed() {
	dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null |
		grep -qx installed
}

command -v dpkg-query >/dev/null || exit 0	# not Debian: Meson will tell
wanted=
for group; do
	case $group in
	build) wanted="$wanted $build" ;;
	check) wanted="$wanted $check" ;;
	bench) wanted="$wanted $bench" ;;
	fuzz) wanted="$wanted $fuzz $(clang_runtime)" ;;
	deb) wanted="$wanted $deb" ;;
	cross) wanted="$wanted $cross" ;;
	vm) wanted="$wanted $vm" ;;
	ci) wanted="$wanted $ci $(clang_runtime)" ;;
	*) echo "deps.sh: no group '$group'" >&2; exit 2 ;;
	esac
done
missing=
for package in $wanted; do
	installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "Packages are missing; as root run: apt-get install$missing" >&2
	exit 1
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >/dev/null 2>&1 || true
# shellcheck disable=SC2086
apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 $missing \
	>/dev/null
