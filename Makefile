# SPDX-License-Identifier: GPL-2.0-only
# A thin layer over Meson: "make" leaves build/ilb, "make demo" and "make check"
# also install what a bare Debian lacks (as root; else they print the command).

BUILD ?= build
MESON_ARGS ?=
CAPTURE ?= tests/captures/6.12-pin16

.PHONY: all demo check bench fuzz install clean distclean deps deps-check \
	deps-bench deps-fuzz

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja: | deps
	@meson setup $(MESON_ARGS) $(BUILD) >/dev/null || \
		{ meson setup $(MESON_ARGS) $(BUILD); exit 1; }

deps:
	@scripts/deps.sh build

deps-check:
	@scripts/deps.sh build check

deps-bench:
	@scripts/deps.sh build check bench

deps-fuzz:
	@scripts/deps.sh build fuzz

demo: all
	$(BUILD)/ilb report -i $(CAPTURE)
	$(BUILD)/ilb replay -i $(CAPTURE)

check: deps-check all
	@scripts/check.sh $(BUILD)

bench: deps-bench all
	@tests/bench/run.sh $(BUILD)

# Every target for SECONDS; findings are left in build-fuzz/.
fuzz: deps-fuzz
	@scripts/fuzz.sh $(or $(SECONDS),60)

install: all
	@meson install -C $(BUILD) --no-rebuild

clean:
	@test ! -d $(BUILD) || ninja -C $(BUILD) --quiet clean

distclean:
	rm -rf build build-*/
