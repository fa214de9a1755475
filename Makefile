# What a contributor types. Longer work is in scripts/.
.DEFAULT_GOAL := help
.PHONY: help demo connector install c-library wheel npm test verify nightly check sandbox format coverage simulate crash restarts races soak disk clock failover test-restore model bench bench-counts bench-instructions bench-payments bench-engines bench-merchants \
	fuzz fuzz-server cost seeded-bugs gateway-bugs fresh-tokens mutants mutant-seeds attacked release release-tests check-packages

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## the shop, the server and the sandbox, everything set up; PAGE=mine.html tries a page of yours, STORE=postgres two servers, MONITORING=yes Prometheus beside it
	@STORE='$(STORE)' MONITORING='$(MONITORING)' scripts/demo $(if $(PAGE),--page '$(PAGE)')

install: ## a release of tender and tender-sandbox, their completions and man pages, below PREFIX=/usr/local
	@PREFIX='$(or $(PREFIX),/usr/local)' DESTDIR='$(DESTDIR)' scripts/install

c-library: ## libapplepaytoken for C and other languages, artifacts/c-library: header, shared library, pkg-config file
	@scripts/c-library

wheel: ## the Python wheel apple-pay-token and its source distribution, artifacts/wheel
	@scripts/wheel

npm: ## the web kit as a package for npm, artifacts/npm/tender-web-kit-….tgz
	@scripts/npm-package

test: ## all unit tests, the documentation compiled, a payment in Chromium; everything set up, from one debug build
	@scripts/test

verify: ## the rest of what CI runs: a short form of each attack, PostgreSQL, coverage, the providers' libraries, the browser's stories
	@scripts/verify

nightly: ## everything that is too long for make verify and stale; LIST=1 says what is stale, PART='crash disk' runs these
	@scripts/nightly $(if $(LIST),--list) $(PART)

check: ## format and lint, then make test
	swift format lint --strict --parallel -r Sources Tests Plugins Benchmarks Examples Package.swift
	@scripts/check-javascript
	@scripts/test

sandbox: ## the simulated Apple and acquirer alone
	@scripts/install-prerequisites demo
	@scripts/build debug tender-sandbox
	.build/debug/tender-sandbox sandbox

format: ## writes every Swift and JavaScript file in the project's format
	swift format -i --parallel -r Sources Tests Plugins Benchmarks Examples Package.swift
	@scripts/check-javascript --write

coverage: ## how much of gateway, ledger, orders and the app kit their unit tests run
	@scripts/build debug tender tenderPackageTests
	@scripts/coverage payments
	@scripts/test-app-kit
	@scripts/coverage kit

simulate: ## the gateway under simulated faults, a history for each seed: SEEDS=50000, or SEEDS='5000..<10000'; NODES=yes: of several servers
	@NODES='$(NODES)' scripts/simulate '$(or $(SEEDS),5000)'

crash: attacked ## kill -9 of real processes under load, then the auditor; goes on where it was stopped: KILLS=200
	@CONFIGURATION=release scripts/attack crash '$(or $(KILLS),40)' $(CONNECTORS)

connector: ## every judgement on one connector, NAME=adyen; writes the list of its capabilities into docs/providers
	@[ -n '$(NAME)' ] || { echo "make connector NAME=adyen" >&2; exit 2; }
	@scripts/connector '$(NAME)'

restarts: attacked ## restarts and upgrades a real server under load, no call may fail: RESTARTS=20
	@CONFIGURATION=release scripts/attack restarts '$(or $(RESTARTS),20)'

races: attacked ## 64 connections at a real server, for things that exist once
	@CONFIGURATION=release scripts/attack races $(CONNECTORS)

soak: attacked ## shoppers pay for hours, with faults, on the store that the last run left; memory, descriptors, threads and store must stay flat: HOURS=2
	@CONFIGURATION=release scripts/attack soak "$$(awk 'BEGIN { print 60 * $(or $(HOURS),2) }')"

disk: attacked ## a real server on a disk that is full, fails to flush, or loses power
	@CONFIGURATION=release scripts/attack disk

clock: attacked ## a real server whose clock is set while shoppers pay
	@CONFIGURATION=release scripts/attack clock

failover: ## kills PostgreSQL's primary and nodes under load: KILLS=100; PATRONI=1 with Patroni, WITHOUT_STANDBY=1 must show a loss
	@scripts/install-prerequisites failover
	@scripts/build release tender tender-sandbox payment-auditor
	@CONFIGURATION=release scripts/attack failover '$(or $(KILLS),100)' $(if $(PATRONI),--patroni) $(if $(WITHOUT_STANDBY),--without-standby)

test-restore: ## restores PostgreSQL to a moment while the acquirer has gone on, and compares what is missing
	@scripts/install-prerequisites failover
	@scripts/build release tender tender-sandbox
	@CONFIGURATION=release scripts/attack restore

model: ## every history of the model of a payment, and one for each rule that is taken out; RULE=LEASE for that alone
	@scripts/install-prerequisites model
	@Tests/Model/check.py $(RULE)

attacked:
	@scripts/build release tender tender-sandbox payment-auditor crashing-server

release: ## programs, tarballs, Debian packages, an OCI image, a bill of materials and sums, in artifacts/release; see docs/release.md
	@scripts/release

check-packages: ## makes releases and installs, upgrades and purges them in Debian 12 and 13; as root
	@scripts/check-packages

release-tests:
	@scripts/build release tender tenderPackageTests

bench: bench-payments ## how fast payment tokens are opened and payments taken, compared with their parts
	@scripts/bench

bench-engines: ## payments on SQLite, on PostgreSQL, and by two nodes of one PostgreSQL, in turns
	@scripts/bench engines

bench-instructions: ## the instructions of a payment by function and its allocations, under valgrind, compared with Benchmarks/instructions.txt
	@scripts/bench instructions

bench-counts: ## what a payment takes, counted and compared with Benchmarks/baseline.txt; RECORD=yes makes it the baseline
	@scripts/bench counts

bench-payments: ## the payments alone; STORE=1000000 compares with a store that holds as many; PART='slow forms' measures these alone
	@STORE='$(or $(STORE),100000)' scripts/bench payments

bench-merchants: ## how much one merchant's flood slows another's payments; FLOOD=1500 calls a second
	@scripts/build release tender-sandbox
	@FLOOD=$(or $(FLOOD),1500) /usr/bin/python3 Benchmarks/two_merchants.py .build/release/tender

fuzz: ## each fuzz target for MINUTES=10; goes on where the last run ended
	@scripts/fuzz $(or $(MINUTES),10)

fuzz-server: ## hostile requests to each surface of a running server for MINUTES=10, or to SURFACE='office hosted'
	@scripts/build release tender tender-sandbox
	@CONFIGURATION=release scripts/attack fuzz_server $(or $(MINUTES),10) $(SURFACE)

cost: release-tests ## sends COUNT=5000 hostile requests, from SEED=1, and fails when one costs too much processor time
	TENDER_COST_REQUESTS=$(or $(COUNT),5000) TENDER_SEED=$(or $(SEED),1) swift test -c release --skip-build --filter CostTests

seeded-bugs: ## puts bugs into the modules of the payment token; the vectors must notice each
	@scripts/attack seeded_bugs $(COUNT)

gateway-bugs: ## puts bugs into lines of the gateway, the journal and the store; their tests must notice each
	@scripts/attack gateway_bugs $(COUNT)

fresh-tokens: release-tests ## issues and opens 100,000 payment tokens, or COUNT
	TENDER_FRESH_TOKENS=$(or $(COUNT),100000) swift test -c release --skip-build --filter FreshTokenTests

mutants: release-tests ## compares 10,000 random mutants of tokens, or COUNT, with OpenSSL and a reader in Python; SEED=… for others
	TENDER_MUTANTS=$(or $(COUNT),10000) TENDER_SEED=$(or $(SEED),4) swift test -c release --skip-build --filter 'random mutants'

mutant-seeds: ## searches for the simulation's mutants in SEEDS=1500 seeds and records where they were noticed; ONLY='part of a name'
	@MUTANTS='$(or $(SEEDS),1500)' ONLY='$(ONLY)' RECORD=yes scripts/test-simulator mutants
