# The two commands of the README are `make run` and `make test`. Each installs or names what it lacks.

.PHONY: run test check fmt web install bench bench-setup conformance attacks faults kills fuzz eval clean agents wires tasks

# Chromium's sandbox cannot start for root. Nothing else in Reins switches it off, and Reins says so when it is off.
ifeq ($(shell id -u),0)
export REINS_NO_SANDBOX = 1
endif

run: ## The whole street on the bundled demo shop
	@dev/setup build browser
	@$(MAKE) --no-print-directory web
	@cargo run --quiet --package reins -- demo $$(test -t 0 || echo --yes)

test: ## Format, lints, types and all tests, with a real Chromium
	@dev/setup build browser test-tools
	@$(MAKE) --no-print-directory web
	@dev/check
	@dev/test

check: web ## Format, lints, types and licences only
	@dev/check

fmt:
	@cargo fmt --all

# Page scripts are TypeScript; the binary embeds what this builds.
WEB_SOURCES := $(shell find web/src -type f 2>/dev/null) $(wildcard web/*.json web/*.mjs web/*.js web/*.ts)
web: web/dist/page.js
web/node_modules/.installed: web/package-lock.json
	@npm --prefix web ci --no-audit --no-fund --silent
	@touch $@
web/dist/page.js: web/node_modules/.installed $(WEB_SOURCES)
	@npm --prefix web run --silent build
	@touch $@

install: ## The optimised program, into ~/.cargo/bin
	@dev/setup build browser
	@$(MAKE) --no-print-directory web
	@cargo install --quiet --locked --path crates/reins

bench-setup: ## Fetch the peers that Reins is measured against, into bench/work
	@dev/setup build browser python
	@bench/setup

bench: bench-setup web ## Reins, raw DevTools protocol and the peers in one run; writes bench/results.md
	@cargo build --quiet --release --package reins
	@bench/run

conformance: bench-setup web ## The MCP conformance suite and the MCP inspector against `reins mcp`
	@cargo build --quiet --package reins
	@bench/conformance

attacks: bench-setup web ## Hostile pages through every door and level, and through the peers; writes tests/attacks/results.md and peers.md
	@cargo build --quiet --package reins --package reins-testing
	@bench/attacks

agents: web ## Real installed agents (Codex, OpenCode, Qwen) do a task on the demo shop, with a scripted model behind them
	@dev/setup build browser python
	@cargo build --quiet --package reins
	@bench/agents/run

wires: ## The four wire formats against an outside mock server that speaks them all (WIRES_BASE judges a real server)
	@dev/setup build python
	@cargo build --quiet --package reins-models --example wires
	@bench/wires/run

tasks: ## The task suite with scripted policies; each task with its calls, cards and time
	@dev/setup build browser
	@$(MAKE) --no-print-directory web
	@cargo build --quiet --package reins --package reins-testing
	@"$${CARGO_TARGET_DIR:-target}/debug/tasks" play --program "$${CARGO_TARGET_DIR:-target}/debug/reins"
	@echo "With --strict-clicks, which asks before every click that nothing classifies:"
	@"$${CARGO_TARGET_DIR:-target}/debug/tasks" play --strict-clicks --program "$${CARGO_TARGET_DIR:-target}/debug/reins" | tail -2

faults: ## A fault at a seeded point of each of a thousand runs in memory and of a hundred in a real Chromium
	@dev/setup build browser
	@$(MAKE) --no-print-directory web
	@REINS_FAULTS=all cargo test --quiet --package reins-control --test faults -- --nocapture --test-threads=2

kills: ## `kill -9` at fifty seeded points of a run, and what `reins resume` makes of it
	@dev/setup build browser
	@$(MAKE) --no-print-directory web
	@REINS_KILLS=all cargo test --quiet --package reins --test kill -- --nocapture

fuzz: web ## A fuzzer on the page reader, a minute for each of its two targets
	@dev/setup build
	@dev/fuzz

eval: bench-setup web ## Outside judges: MiniWoB++ with scripted policies and with a small local model
	@cargo build --quiet --release --package reins
	@bench/eval/run

clean:
	@rm -rf web/dist web/node_modules bench/work
	@cargo clean
