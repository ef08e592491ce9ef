# The project's vocabulary: what people and CI type. `make` alone lists it.

CARGO   ?= cargo
PREFIX  ?= /usr/local
DESTDIR ?=

# rustup installs here, and a fresh shell may not know it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

# Evaluated where used: `make demo` first says what is missing, a Rust toolchain included.
# The binary is built for a named target (.cargo/config.toml), so it is one directory deeper than usual.
# Root, at `make install`, may have no Rust.
TRIPLE   = $(or $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p'),$(shell uname -m)-unknown-linux-gnu)
BEDPLATE = $(or $(CARGO_TARGET_DIR),target)/$(TRIPLE)/release/bedplate

# A law draws the same cases every time, so that a tree that passed passes anywhere; `make laws` draws others.
export PROPTEST_RNG_SEED ?= 20261126

.PHONY: help demo test test-fast test-all laws build lint install uninstall clean

help:
	@echo 'make demo       install what is missing, build, run the quickstart study in the lab, report'
	@echo 'make test       install what is missing, run every test that is not long, guests included'
	@echo 'make test-fast  tests that boot no guest'
	@echo 'make test-all   every test, the long ones too'
	@echo 'make laws       tests that boot no guest, with other random cases than the last time'
	@echo 'make lint       formatting, clippy, shell scripts, what is linked'
	@echo 'make build      the release binary'
	@echo 'make install    binary, man pages and completions into PREFIX (now $(PREFIX))'
	@echo 'make clean      remove what was built'

demo:
	@scripts/install demo
	@$(MAKE) --no-print-directory build
	$(BEDPLATE) demo

build:
	$(CARGO) build --release --locked --package bedplate

test:
	@scripts/install test
	CARGO=$(CARGO) scripts/test

test-fast:
	$(CARGO) test --workspace --locked --no-fail-fast

test-all:
	@scripts/install test
	$(CARGO) test --workspace --locked --no-fail-fast --features bedplate/long-tests

laws:
	@seed=$$(date +%s); echo "PROPTEST_RNG_SEED=$$seed"; \
	PROPTEST_RNG_SEED=$$seed $(CARGO) test --workspace --locked --no-fail-fast

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --locked --all-targets --features bedplate/long-tests -- -D warnings
	@if command -v shellcheck >/dev/null; then \
		shellcheck scripts/install scripts/test scripts/test-install scripts/measure-file-systems \
			scripts/check-dependencies scripts/pages .ci/run; \
	else \
		echo 'shellcheck is not installed; scripts were not checked'; \
	fi
	scripts/test-install
	@if command -v cargo-deny >/dev/null; then \
		scripts/check-dependencies; \
	else \
		echo 'cargo-deny is not installed; dependencies were not checked (scripts/install ci)'; \
	fi

# Two commands on purpose: `make build`, then `sudo make install`, so that root compiles nothing.
install:
	@test -x $(BEDPLATE) || { echo 'run `make build` first' >&2; exit 2; }
	install -D -m 755 $(BEDPLATE) $(DESTDIR)$(PREFIX)/bin/bedplate
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	$(BEDPLATE) man $(DESTDIR)$(PREFIX)/share/man/man1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -d $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	install -d $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(BEDPLATE) completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/bedplate
	$(BEDPLATE) completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_bedplate
	$(BEDPLATE) completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/bedplate.fish

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/bedplate
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/bedplate.1 $(DESTDIR)$(PREFIX)/share/man/man1/bedplate-*.1
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/bedplate
	rm -f $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_bedplate
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/bedplate.fish

clean:
	$(CARGO) clean
