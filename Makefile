# SPDX-License-Identifier: GPL-2.0-only
# A thin layer over Meson: "make" leaves build/ilb, "make demo" and "make check"
# also install what a bare Debian lacks (as root; else they print the command).

BUILD ?= build
MESON_ARGS ?=
CAPTURE ?= tests/captures/6.12-pin16

.PHONY: all demo check coverage vm-smoke vm-check vm-long mutation bench fuzz \
	install kmod deb clean distclean deps deps-check deps-vm deps-bench deps-deb deps-fuzz

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja: | deps
	@meson setup $(MESON_ARGS) $(BUILD) >/dev/null || \
		{ meson setup $(MESON_ARGS) $(BUILD); exit 1; }

deps:
	@scripts/deps.sh build

deps-check:
	@scripts/deps.sh build check

deps-vm:
	@scripts/deps.sh build check vm cross

deps-bench:
	@scripts/deps.sh build check bench

deps-deb:
	@scripts/deps.sh build deb

deps-fuzz:
	@scripts/deps.sh build fuzz

demo: all
	$(BUILD)/ilb report -i $(CAPTURE)
	$(BUILD)/ilb replay -i $(CAPTURE)

check: deps-check all
	@scripts/check.sh $(BUILD)

# Stock kernels in QEMU: two minutes, then twenty each.
vm-smoke vm-check vm-long: deps-vm all
	@scripts/vm-check.sh $(BUILD) $(@:vm-%=%)

# Which lines the tests of units and of captures execute; fails below the aims.
coverage: deps-check
	@scripts/coverage.sh

# Whether the tests notice a changed operator; takes a quarter of an hour.
mutation: deps-check
	@tests/mutate.py .

bench: deps-bench all
	@tests/bench/run.sh $(BUILD)

# All targets in SECONDS of all CPUs; findings are left in build-fuzz/found/.
fuzz: deps-fuzz
	@scripts/fuzz.sh $(or $(SECONDS),1200)

install: all
	@meson install -C $(BUILD) --no-rebuild

# The kernel module, for the kernel whose headers are in KDIR. Built in a copy
# made of links, so that nothing is written into the sources.
KDIR ?= /lib/modules/$(shell uname -r)/build
KMOD_BUILD ?= build-kmod
kmod:
	@test -e $(KDIR)/Makefile || { echo "kmod: no kernel headers in" \
		"$(KDIR); install linux-headers-$$(uname -r) or give" \
		"KDIR=DIR" >&2; exit 1; }
	@mkdir -p $(KMOD_BUILD)
	@cp -rsf $(CURDIR)/kmod $(CURDIR)/core $(CURDIR)/include $(KMOD_BUILD)
	@ln -sf kmod/Kbuild $(KMOD_BUILD)/Kbuild
	@$(MAKE) -C $(KDIR) M=$(abspath $(KMOD_BUILD)) modules

# Debian packages, in build-deb/.
deb: deps-deb
	@scripts/deb.sh

clean:
	@test ! -d $(BUILD) || ninja -C $(BUILD) --quiet clean

distclean:
	rm -rf build build-*/
