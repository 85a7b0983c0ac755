# The whole task file: `make test`, `make lab`, `make quick`, `make lint`, `make docs`, `make site`, `make bench`, `make fuzz` (FUZZ_SECONDS=600 each), `make native`, `make native-check`, `make monarch`, `make ray`, `make browser`, `make servers`.
VENV ?= .venv
BIN := $(VENV)/bin

# What needs no torch, which is the most of it by far, does not wait for it either.
$(VENV)/light: pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q -e . --group dev
	touch $@
$(VENV)/ready: $(VENV)/light
	$(BIN)/pip install -q torch==2.13.0
	touch $@

# Tests start hundreds of Pythons: none of them shall compile the package anew, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE
# Several run at a time: threads of their own would only wait for each other, and spin while they do.
export POLARS_MAX_THREADS = 1
export OMP_NUM_THREADS = 1
# Three more at a time than there are cores: a third of the time is spent waiting for jobs that hang.
AT_ONCE := $(shell expr $$(nproc 2>/dev/null || echo 2) + 3)
PYTEST = $(BIN)/pytest -n $(AT_ONCE) --maxprocesses 5 --dist loadfile --no-loadscope-reorder
# Jobs of several ranks share two processors with four other tests, and some then take longer than what they wait for allows:
# what failed beside others is run once more, alone. What is wrong fails again.
ALONE = $(BIN)/pytest --last-failed --last-failed-no-failures none
# What a change needs: every part, every cause, every door, and real jobs of each kind. Minutes.
test: $(VENV)/ready
	$(PYTEST) -m "not lab" || $(ALONE) -m "not lab"
# The rest: the whole corpus, every real hang, every command of the pages, all examples of the properties.
lab: $(VENV)/ready
	$(PYTEST) -m "lab or property" --hypothesis-profile lab || $(ALONE) -m "lab or property" --hypothesis-profile lab
# While a change is made: no torch, no processes, a few minutes on two processors.
quick: $(VENV)/light
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile -m "not (lab or slow or torch)" --hypothesis-profile quick
# Programs with real frameworks, in an environment of their own: tens of minutes. HEALTHY=--healthy runs their twins.
field: $(VENV)/ready
	test -d .venv-field || (python3 -m venv .venv-field && .venv-field/bin/pip install -q -e . \
	  -r tests/field/requirements.txt --extra-index-url https://download.pytorch.org/whl/cpu)
	PYTHON=.venv-field/bin/python $(BIN)/python tests/field/run.py $(HEALTHY)
lint: $(VENV)/light
	$(BIN)/ruff check && $(BIN)/ruff format --check && $(BIN)/mypy
docs: $(VENV)/ready
	$(BIN)/python docs/generate.py
# The incidents of the causes' pages, made afresh: minutes. ONLY=killed makes that of one cause.
record: $(VENV)/ready
	cd docs && ../$(BIN)/python -m making.record $(if $(ONLY),--only $(ONLY))
screenshots: $(VENV)/ready
	cd docs && ../$(BIN)/python -m making.screenshots
site: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
bench: $(VENV)/ready
	$(BIN)/python benchmarks/load.py
fuzz: $(VENV)/ready
	$(BIN)/pip install -q atheris
	$(BIN)/python benchmarks/fuzz.py --seconds $(or $(FUZZ_SECONDS),600) --folder .fuzz
# The native reader of dumps, compared with Python's once it is built; and the same with sanitizers, on CHANGED dumps.
native: $(VENV)/ready
	$(BIN)/pip install -q ./native
	$(PYTEST) tests/evidence/test_native_pass.py tests/fuzz/test_native_bounds.py tests/fuzz/test_native_reader.py
CHANGED ?= 20000
native-check: $(VENV)/ready
	$(BIN)/pip install -q nanobind scikit-build-core cmake ninja
	$(BIN)/pip install -q --no-build-isolation --target .native-check --upgrade --no-deps -C build-dir=build/check \
	  -C cmake.define.RAF_SANITIZE=ON ./native
	PYTHONPATH=.native-check ASAN_OPTIONS=detect_leaks=0 \
	  LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so) $$(g++ -print-file-name=libstdc++.so)" \
	  $(BIN)/python benchmarks/both_readers.py --mutations $(CHANGED) --seed $$(date +%s)
# Scripts under one controller, with Monarch's real processes: what `make test` skips without it. Some 350 MB, and no torch.
monarch: $(VENV)/ready
	$(BIN)/pip install -q -e '.[monarch]'
	$(PYTEST) tests/capture/test_control.py || $(ALONE) tests/capture/test_control.py
# Files decoded by a real cluster of Ray, and read from a real server of objects: some 400 MB, and no torch.
ray: $(VENV)/ready
	$(BIN)/pip install -q -e '.[ray,objects]' 'moto[s3,server]>=5'
	$(PYTEST) tests/cluster tests/evidence/test_objects.py || $(ALONE) tests/cluster tests/evidence/test_objects.py
# Chromium for the tests of the report, which are skipped without one.
ROOT := $(if $(filter 0,$(shell id -u)),,sudo)
browser:
	for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name && exit; done; \
	$(ROOT) apt-get update -q && $(ROOT) apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core
# Redis for the tests of fleets, Postgres for that of towers which share one, and sshd for those of `raf collect`: they are
# skipped without. Debian's Postgres is not on the path, and the test finds it all the same.
INSTALL = $(ROOT) apt-get install -y -q --no-install-recommends
HAS_SSHD = PATH=$$PATH:/usr/sbin command -v sshd
servers:
	command -v redis-server && $(HAS_SSHD) && ls $$(command -v initdb) /usr/lib/postgresql/*/bin/initdb 2>/dev/null | grep . || $(ROOT) apt-get update -q
	command -v redis-server || $(INSTALL) redis-server
	$(HAS_SSHD) || $(INSTALL) openssh-server openssh-client
	ls $$(command -v initdb) /usr/lib/postgresql/*/bin/initdb 2>/dev/null | grep . || $(INSTALL) postgresql || echo no Postgres
.PHONY: test lab field quick lint docs record screenshots site bench fuzz native native-check monarch ray browser servers
