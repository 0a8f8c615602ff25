# Chit. `make test` on a fresh Debian or Ubuntu with Go installs what is missing and runs everything.

GO       ?= go
FUZZTIME ?= 10m
ROUNDS   ?= 30

.PHONY: demo build test crash bench lint fuzz

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
