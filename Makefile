# Every target is defined once, here; CI calls these targets and nothing else.
GO        ?= go
FUZZTIME  ?= 5s
COUNT     ?= 6
SOAK      ?= 10m
BENCH     ?= .
ONCE      ?= , (1024|252|1000) callers, 100 |^(open|codec)|1000 pending
PEERS_JSON ?= docs/peers.json
MODULES   := . gateway tools interop adapters/mcpgo adapters/gosdk adapters/jsonrpc2 adapters/lsp adapters/otel bench/peers browser
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 linux/386
# Each takes minutes from an empty cache; make cross NESTED="$(PLATFORMS)" looks at all.
NESTED    ?= windows/amd64
STATICCHECK = $(GO) tool -modfile=$(CURDIR)/tools/go.mod staticcheck

.DEFAULT_GOAL := help
.PHONY: help fmt lint test test-plain test-allocs test-portable race stress cross fuzz bench bench-once bench-check gateway-check bench-peers bench-peers-check bench-peers-chart interop peers browser test-browser conformance conformance-gateway soak cover ci

help: ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-18s %s\n", $$1, $$2}'

fmt: ## format every file
	gofmt -w .

lint: ## gofmt, go vet, staticcheck, tidy modules
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run make fmt"; exit 1; }
	@set -e; for m in $(MODULES); do echo "== lint $$m"; \
	  (cd $$m && $(GO) vet ./... && $(STATICCHECK) ./... && $(GO) mod tidy -diff); done

test: ## every module's tests, invariants checked (what needs a browser or Node skips without)
	@set -e; for m in $(MODULES); do echo "== test $$m"; \
	  (cd $$m && $(GO) test -tags invariants -shuffle=on ./...); done

test-plain: ## the root's tests as a user runs them
	$(GO) test ./...

test-allocs: ## what nested modules allocate and weigh; the root's are in test-plain, and with invariants they cannot be counted
	@set -e; for m in gateway adapters/mcpgo adapters/otel; do echo "== allocs $$m"; $(GO) -C $$m test -run 'Alloc|IdleClients' ./...; done

test-portable: ## without sonic and assembly; and on 32 bits where the kernel runs them
	$(GO) test -tags correlator_nosonic,correlator_portable ./codec ./internal/vector ./engine ./wheel ./conn ./fuzz
	@if GOARCH=386 $(GO) test -run '^$$' ./wheel >/dev/null 2>&1; \
	  then GOARCH=386 $(GO) test ./codec ./engine ./wheel ./conn ./fuzz; \
	  else echo "386 binaries do not run here: vetting them only"; GOARCH=386 $(GO) vet ./...; fi

race: ## the root's and the gateway's tests under the race detector
	$(GO) test -race -shuffle=on ./...
	cd gateway && $(GO) test -race -shuffle=on ./...

stress: ## stress, litmus and histories at full size under the race detector
	CORRELATOR_STRESS=full $(GO) test -race -run 'Stress|Litmus|Histories|TestP08|TestP13|TestW08Many' -timeout 40m -v ./engine
	CORRELATOR_STRESS=full $(GO) test -race -run 'TestL01|TestX18' -timeout 10m -v ./conn
	cd gateway && CORRELATOR_STRESS=full $(GO) test -race -run 'TestP04|TestX18|TestB10|TestL12' -timeout 20m -v . ./internal/fault

cross: ## compile and vet for every platform we claim; of the modules beside the root, what programs import, for NESTED
	@set -e; for m in $(MODULES); do case $$m in .) list="$(PLATFORMS)";; gateway|adapters/*) list="$(NESTED)";; *) list=;; esac; \
	  for p in $$list; do echo "== $$p $$m"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) -C $$m vet ./...; done; done

fuzz: ## every module's fuzz targets for FUZZTIME (default 5s)
	@set -e; for m in $(MODULES); do for pkg in $$($(GO) -C $$m list ./...); do \
	  targets=$$($(GO) -C $$m test -list '^Fuzz' $$pkg); \
	  for target in $$(echo "$$targets" | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$target"; \
	    $(GO) -C $$m test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$pkg; done; done; done

bench: ## every benchmark matching BENCH, COUNT times (for benchstat)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

bench-once: ## every module's benchmarks once, to see that they run; of the rivals' one of each kind
	@set -e; for m in $(MODULES); do echo "== bench $$m"; \
	  $(GO) -C $$m test -run '^$$' -bench . -benchtime 1x ./...; done
	$(GO) -C bench/peers run . run -rounds 1 -window 20ms -rows '$(ONCE)'

bench-check: ## every performance claim: demanded and measured, non-zero exit where one falls short
	$(GO) run ./bench/check

gateway-check: ## what the gateway costs beside a byte copy and the SDKs' proxies; QUICK=1: half a minute, nothing timed is judged
	$(GO) -C gateway run ./internal/check $(if $(filter 1,$(QUICK)),-quick)

bench-peers: ## every row against the rivals that come near in it, ten minutes; FULL=1: all in all, longer. Writes PEERS_JSON
	$(GO) -C bench/peers run . run $(if $(filter 1,$(FULL)),-full) -json $(abspath $(PEERS_JSON))

bench-peers-check: ## what must hold against the rivals, non-zero exit where it does not
	$(GO) -C bench/peers run . check

bench-peers-chart: ## draw docs/peers.svg from PEERS_JSON
	$(GO) -C bench/peers run . chart -out $(CURDIR)/docs/peers.svg $(abspath $(PEERS_JSON))

peers: ## install the real peers (gopls; those that need Node) into .peers
	./interop/peers.sh

interop: ## tests against real peers (those that need Node skip without `make peers`)
	cd interop && $(GO) test -count=1 ./...

conformance: ## the protocol's conformance suite on examples/everything (needs npm)
	./interop/conformance.sh

conformance-gateway: ## the suite's required server scenarios through the gateway (needs npm)
	./interop/conformance-gateway.sh

soak: ## ten minutes of load through the gateway with chaos; SOAK=20s for a short one
	cd interop && $(GO) test -count=1 -v -run '^TestGatewaySoak$$' -timeout 30m -soak $(SOAK) .

browser: ## find a Chromium for test-browser, or install Debian's
	./browser/install.sh

test-browser: ## the pages of loadgen and the gateway in a real browser (skips without `make browser`)
	cd browser && $(GO) test -count=1 ./...

cover: ## coverage of the library packages
	$(GO) test -cover ./codec ./wheel ./engine ./conn

ci: ## what CI runs
	./.ci/run
