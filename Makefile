# Chit. `make test` on a fresh Debian or Ubuntu with Go installs what is missing and runs everything.

GO       ?= go
FUZZTIME ?= 10m
ROUNDS   ?= 30

.PHONY: demo build test crash bench lint fuzz powercut simulate

# The whole story in one terminal: orders, paper, pulled plugs, and the count at the end.
demo:
	$(GO) run ./cmd/chit demo

# The programs, static, for this machine. For a Pi: make build GOOS=linux GOARCH=arm64
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/chit ./cmd/chitd ./cmd/chit-broker

# Everything that must hold. It takes about 25 minutes on two cores, a third of it fuzzing: 20 s and
# the build for each target.
test:
	.ci/test

# Ten times the kitchen-days of make test, told with their rate, and a storm of 5,000 devices, drawn
# into bin/storm.png: about 20 minutes on two cores. For less: make simulate SEEDS=100 DAYS=1
SEEDS    ?= 1000
DAYS     ?= 5
KITCHENS ?= 2
simulate:
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/chit
	bin/chit simulate --seeds $(SEEDS) --hours $$(($(DAYS) * 24)) --kitchens $(KITCHENS)
	bin/chit simulate --storm --plot bin/storm.png

# More kills at each step than make test has: make crash ROUNDS=100. Thirty take half an hour.
crash:
	$(GO) test -count=1 -timeout 0 ./crash -crash.rounds=$(ROUNDS)

# The tables of BENCHMARKS.md, measured on this machine in about five minutes. For one part:
# go run ./bench -only latency; to keep them: go run ./bench -write
bench:
	$(GO) run ./bench

# What reads the code without running it.
lint:
	.ci/lint

# Every fuzz target for longer: make fuzz FUZZTIME=1h
fuzz:
	FUZZTIME=$(FUZZTIME) .ci/fuzz

# Twenty times the power cuts of make test, about ten minutes; SEED repeats the cuts of an earlier run.
SEED ?= 0
powercut:
	$(GO) test -count=1 -timeout 2h -v ./crashdisk -crashdisk.states=20000 -crashdisk.seed=$(SEED)
