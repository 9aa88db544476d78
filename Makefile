# Everything a person or a machine does here. One set of flags for every build, so that `demo`,
# `test` and `up` share what is built.
SHELL := /bin/sh
.DEFAULT_GOAL := help

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
LAB := $(TARGET)/debug/lab
BUILD_FLAGS := --workspace --all-targets --locked

# Queries are checked against crates/store/.sqlx; only `make lint` asks a database.
export SQLX_OFFLINE := true

# The query cache as a migrated database gives it, beside the one in the tree.
QUERIES := crates/store/.sqlx
QUERIES_NEW := $(abspath $(TARGET))/sqlx-check

.PHONY: help
help: ## What there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Install PostgreSQL, RabbitMQ and a C compiler where they are missing
	@sh deploy/setup.sh

.PHONY: build
build: ## Build everything, tests included
	@$(CARGO) build $(BUILD_FLAGS)

.PHONY: demo
demo: setup build ## Play the fixed story on the real services and check every ending
	@$(LAB) demo

.PHONY: test
test: setup build ## Run every test beside a private PostgreSQL and RabbitMQ
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(LAB) run -- $(CARGO) nextest run --workspace --locked --no-fail-fast; \
	else \
		$(LAB) run -- $(CARGO) test --workspace --locked --no-fail-fast; \
	fi

.PHONY: up
up: setup build ## Start the private stack, or what of it has died; see .lab/endpoints.json
	@$(LAB) up

.PHONY: down
down: $(LAB) ## Stop the private stack and remove its data
	@$(LAB) down

.PHONY: status
status: $(LAB) ## Show every process of the private stack
	@$(LAB) status

# Only where it was never built: `down` and `status` wait for no compiler.
$(LAB):
	@$(MAKE) --no-print-directory build

.PHONY: lint
lint: format-check clippy rules audit queries ## Format, clippy, house rules, audit, query cache

.PHONY: format-check
format-check: ## Check the format
	@$(CARGO) fmt --all --check

.PHONY: clippy
clippy: ## Run clippy over everything; a warning is an error
	@$(CARGO) clippy $(BUILD_FLAGS) -- -D warnings

.PHONY: rules
rules: ## Check the rules of the house: who imports whom, and the style
	@$(CARGO) test -q --workspace --locked --test architecture --test style

.PHONY: audit
audit: ## Check every dependency against the advisories
	@$(CARGO) test -q --workspace --locked --test audit

.PHONY: queries
queries: setup build ## Check the query cache against a migrated database
	@rm -rf $(QUERIES_NEW) && mkdir -p $(QUERIES_NEW)
	@touch crates/store/src/lib.rs
	@$(LAB) run --migrated -- env SQLX_OFFLINE=false SQLX_OFFLINE_DIR=$(QUERIES_NEW) \
		$(CARGO) check $(BUILD_FLAGS)
	@diff -r $(QUERIES) $(QUERIES_NEW) || { \
		echo "the query cache is stale: copy $(QUERIES_NEW) over $(QUERIES)" >&2; exit 1; }
