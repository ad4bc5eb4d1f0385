#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: cross.sh arm64 [BUILD]
# Builds ilb for arm64 in BUILD (build-arm64), against Debian's packages
# unpacked, not installed, in BUILD.sysroot. Needs gcc-aarch64-linux-gnu, apt
# and Debian's keyring; no root. For: ilb vm --arch arm64
set -eu
cd "$(dirname "$0")/.."
arch=${1:-}
[ "$arch" = arm64 ] || { echo "usage: cross.sh arm64 [BUILD]" >&2; exit 2; }
build=${2:-build-arm64}
triplet=aarch64-linux-gnu
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages="libc6-dev libtracecmd-dev libtraceevent-dev libtracefs-dev
	libbpf-dev libhwloc-dev libjansson-dev libzstd-dev zlib1g-dev
	libsmartcols-dev libarchive-dev libelf-dev busybox-static trace-cmd"

fail() {
	echo "cross.sh: $*" >&2
	exit 1
}

command -v "$triplet-gcc" >/dev/null ||
	fail "$triplet-gcc is missing: install gcc-aarch64-linux-gnu"
[ -r "$keyring" ] || fail "$keyring is missing: install debian-archive-keyring"
mkdir -p "$build.sysroot"
sysroot=$(cd "$build.sysroot" && pwd)

# An apt of its own, to which nothing is installed: all that is needed comes.
private_apt() {
	program=$1
	shift
	"$program" -o Dir::Etc::SourceList="$apt/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$apt/lists" \
		-o Dir::State::Status="$apt/status" \
		-o Dir::Cache::Archives="$apt/debs" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o APT::Architecture=$arch -o APT::Architectures=$arch \
		-o APT::Sandbox::User=root -o APT::Update::Error-Mode=any \
		-o Acquire::Languages=none -o Debug::NoLocking=1 "$@"
}

unpack_packages() {
	apt=$sysroot/apt
	mkdir -p "$apt/lists/partial" "$apt/debs/partial"
	: >"$apt/status"
	site=$(apt-get indextargets --format '$(SITE)' 'Origin: Debian' \
		'Label: Debian' 'Created-By: Packages' | head -n 1)
	[ -n "$site" ] || fail "this machine's apt knows no archive of Debian's"
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	echo "deb [signed-by=$keyring] $site $suite main" >"$apt/sources.list"
	private_apt apt-get -qq update
	# shellcheck disable=SC2086
	private_apt apt-get -q --yes --no-install-recommends --download-only \
		install $packages >"$apt/log" || { cat "$apt/log"; exit 1; }
	for deb in "$apt"/debs/*.deb; do
		dpkg-deb -x "$deb" "$sysroot"
	done
	rm -r "$apt"
	touch "$sysroot/.complete"
}

[ -e "$sysroot/.complete" ] || unpack_packages
cat >"$sysroot/cross.ini" <<END
[binaries]
c = '$triplet-gcc'
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/share/pkgconfig'
[built-in options]
c_args = ['--sysroot=$sysroot', '-isystem', '$sysroot/usr/include/$triplet']
c_link_args = ['--sysroot=$sysroot', '-L$sysroot/usr/lib/$triplet', '-L$sysroot/lib/$triplet', '-Wl,-rpath-link,$sysroot/lib/$triplet:$sysroot/usr/lib/$triplet']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
[ -e "$build/build.ninja" ] ||
	meson setup --cross-file "$sysroot/cross.ini" -Dtests=false "$build"
ninja -C "$build"
echo "ilb vm --arch arm64 --ilb $build/ilb -- ilb --version"
