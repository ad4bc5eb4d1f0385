#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: deb.sh   Debian packages of what is committed, into build-deb/, and
# what lintian says of them; any of its errors or warnings fails.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
grep -q "^  version: '$version'," meson.build || {
	echo "deb.sh: debian/changelog is of $version, meson.build of another" >&2
	exit 1
}
rm -rf build-deb
mkdir -p "build-deb/ilb-$version"
git archive HEAD | tar -x -C "build-deb/ilb-$version"
cd "build-deb/ilb-$version"
dpkg-buildpackage -b -us -uc >../build.log 2>&1 || {
	tail -n 40 ../build.log >&2
	exit 1
}
cd ..
lintian --tag-display-limit 0 --allow-root --fail-on error,warning ./*.changes
ls ./*.deb
