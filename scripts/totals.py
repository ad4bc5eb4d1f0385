#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print 'N passed, N failed[, N skipped]' for a meson JUnit log."""
import sys
import xml.etree.ElementTree as tree


def main():
    passed = failed = skipped = 0
    for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed += 1
        elif "skipped" in kinds:
            skipped += 1
        else:
            passed += 1
    print("%d passed, %d failed%s" % (
        passed, failed, ", %d skipped" % skipped if skipped else ""))
    sys.exit(failed > 0 or not passed)


main()
