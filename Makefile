# What a contributor types. Longer work is in scripts/.
.DEFAULT_GOAL := help
.PHONY: help demo test check sandbox format coverage simulate crash races disk clock bench bench-payments fuzz cost seeded-bugs gateway-bugs fresh-tokens mutants

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## the shop, the server and the sandbox in one process, everything set up; PAGE=mine.html tries a page of yours
	@scripts/demo $(if $(PAGE),--page '$(PAGE)')

test: ## all tests, everything set up
	@scripts/test

check: ## what CI runs: format, build with warnings as errors, test
	@scripts/check

sandbox: ## the simulated Apple and acquirer alone
	@scripts/install-prerequisites demo
	scripts/build --product tender
	.build/release/tender sandbox

format: ## writes every Swift file in the house's format
	swift format -i --parallel -r Sources Tests Plugins Benchmarks Examples Package.swift

coverage: ## how much of what goes into apps its tests run, by room
	@scripts/coverage

simulate: ## the gateway under faults, a history for each seed: SEEDS=50000, or SEEDS='5000..<10000'
	@RECORD=yes scripts/simulate '$(or $(SEEDS),5000)'

crash: ## kill -9 of real processes under load, then the auditor; goes on where it was stopped: KILLS=200
	@$(MAKE) --no-print-directory processes
	@RECORD=yes scripts/crash '$(or $(KILLS),40)'

races: ## 64 connections at a real server, on things that there are once
	@$(MAKE) --no-print-directory processes
	@scripts/races

disk: ## a real server on a disk that is full, fails to flush, or loses power
	@$(MAKE) --no-print-directory processes
	@scripts/test-disk

clock: ## a real server whose clock is set while it is paid with
	@$(MAKE) --no-print-directory processes
	@scripts/test-clock

.PHONY: processes
processes:
	scripts/build --product tender
	scripts/build --product payment-auditor
	scripts/build --product crashing-server

bench: bench-payments ## how fast payment tokens are opened and payments taken, against what they are made of
	@scripts/bench

bench-payments: ## the payments alone; STORE=1000000 compares with a store that holds as many
	@STORE='$(or $(STORE),100000)' scripts/bench-payments

fuzz: ## each fuzz target for MINUTES=10, going on where the last run ended
	@scripts/fuzz $(or $(MINUTES),10)

cost: ## sends COUNT=5000 hostile requests, from SEED=1, and fails when one costs too much processor time
	scripts/build --build-tests
	TENDER_COST_REQUESTS=$(or $(COUNT),5000) TENDER_SEED=$(or $(SEED),1) swift test -c release --skip-build --filter CostTests

seeded-bugs: ## plants bugs into the payment token's rooms; the vectors must notice each
	@scripts/seeded-bugs $(COUNT)

gateway-bugs: ## plants bugs into lines of the gateway, the journal and the store; their tests must notice each
	@scripts/gateway-bugs $(COUNT)

fresh-tokens: ## mints and opens 100,000 payment tokens, or COUNT
	scripts/build --build-tests
	TENDER_FRESH_TOKENS=$(or $(COUNT),100000) swift test -c release --skip-build --filter FreshTokenTests

mutants: ## has 10,000 random mutants, or COUNT, judged by OpenSSL and by a reader in Python too; SEED=… for others
	scripts/build --build-tests
	TENDER_MUTANTS=$(or $(COUNT),10000) TENDER_SEED=$(or $(SEED),4) swift test -c release --skip-build --filter 'random mutants'
