# The commands that the README names. Everything is built under build/.
cmake := build/venv/bin/cmake
ctest := build/venv/bin/ctest

.PHONY: demo test setup configure build wheel bench bench-peers bench-layers conformance-compiled torch-modules \
  torch-operators models headers random-graphs corner-cases kill-training tensorboard browser sanitize fuzz format tidy clean torch-metrics

setup:
	@cmake/setup.sh

configure: setup
	@test -f build/release/build.ninja || $(cmake) --preset release

# Everything but tests and benchmarks is what the demo needs.
demo: configure
	$(cmake) --build --preset release --target saltern fashion_mnist
	apps/fashion_mnist/demo.sh

build: configure
	$(cmake) --build --preset release

test: build
	$(ctest) --preset release

# The Python module as a wheel, from nothing, and its tests in an empty venv.
wheel: setup
	rm -rf build/wheel
	build/venv/bin/pip wheel -q --no-deps --wheel-dir build/wheel .
	tests/install/check_wheel.sh build/wheel

bench: configure
	$(cmake) --build --preset release --target all_benchmarks
	set -e; for program in build/release/bin/bench_*; do $$program; done

# PyTorch and ONNX Runtime come into a venv of their own (some gigabytes).
build/peers/requirements.installed: bench/requirements.txt
	python3 -m venv build/peers
	build/peers/bin/pip install -q -r $<
	cp $< $@

bench-peers: configure build/peers/requirements.installed
	$(cmake) --build --preset release --target peer_worker saltern
	build/peers/bin/python bench/peers.py build/release/bin/peer_worker
	build/peers/bin/python bench/peers.py --train build/release/bin/saltern

# Layers of the Python module beside PyTorch's.
bench-layers: configure build/peers/requirements.installed
	$(cmake) --build --preset release --target saltern_python_package
	PYTHONPATH=build/release/python build/peers/bin/python bench/layers.py

# ONNX's node tests once more, each model compiled into a C program of its own: half an hour. Fails when one that is
# listed stops to pass; all that do not pass are in the report.
conformance-compiled: configure
	$(cmake) --build --preset release --target saltern
	SALTERN_CACHE=build/conformance_cache build/venv/bin/python tests/conformance/onnx_suite.py build/release/bin/saltern \
	  --compiled --match 'node/*' --passing tests/conformance/compiled_passing.txt --report build/onnx_suite_compiled.txt

# PyTorch's database of layers through the Python module, beside PyTorch: ten minutes. Fails when a sample fails that is
# not known to. filter='nn.Conv*' tries some.
torch-modules: configure build/torch_venv/requirements.installed
	$(cmake) --build --preset release --target saltern_python_package
	PYTHONPATH=build/release/python build/torch_venv/bin/python tests/conformance/torch_modules.py \
	  $(if $(filter),--filter '$(filter)') --known tests/conformance/torch_modules_known.txt \
	  --report build/torch_modules.txt

# PyTorch's database of operators in the same way: ten minutes. filter='cum*' tries some.
torch-operators: configure build/torch_venv/requirements.installed
	$(cmake) --build --preset release --target saltern_python_package
	PYTHONPATH=build/release/python build/torch_venv/bin/python tests/conformance/torch_operators.py \
	  $(if $(filter),--filter '$(filter)') --known tests/conformance/torch_operators_known.txt \
	  --report build/torch_operators.txt

# Metrics beside torchmetrics and Keras: a minute.
torch-metrics: configure build/torch_venv/requirements.installed
	$(cmake) --build --preset release --target saltern_python_package
	PYTHONPATH=build/release/python build/torch_venv/bin/python tests/conformance/torch_metrics.py
	KERAS_BACKEND=torch PYTHONPATH=build/release/python build/torch_venv/bin/python tests/conformance/keras_metrics.py

build/torch_venv/requirements.installed: cmake/torch_requirements.txt
	python3 -m venv build/torch_venv && build/torch_venv/bin/pip install -q -r $< && cp $< $@

# TensorBoard's own reader on our event files, in a venv of its own.
tensorboard: configure build/tensorboard_venv/requirements.installed
	$(cmake) --build --preset release --target saltern_python_package
	PYTHONPATH=build/release/python build/tensorboard_venv/bin/python tests/conformance/tensorboard_reads.py

build/tensorboard_venv/requirements.installed: tests/conformance/tensorboard_requirements.txt
	python3 -m venv build/tensorboard_venv && build/tensorboard_venv/bin/pip install -q -r $< && cp $< $@

# A report of a training in a browser that nobody looks at.
browser: configure
	@cmake/setup.sh cmake/browser_packages.txt
	$(cmake) --build --preset release --target saltern
	build/venv/bin/python tests/browser/report_test.py build/release/bin/saltern

# Models out of Python packages beside ONNX Runtime. make models compiled=1 compiles each of them, too.
models: configure
	$(cmake) --build --preset release --target saltern
	SALTERN_CACHE=build/conformance_cache build/venv/bin/python tests/conformance/real_models.py \
	  build/release/bin/saltern --wheels build/models/wheels $(if $(compiled),--compiled)

# Every installed header compiled alone; the test command does so for those that programs and pages include.
headers: build
	tests/install/headers_test.sh $(cmake) build/release $(CURDIR)/build/install_all_headers

# Random graphs beside ONNX Runtime and ONNX's reference, with library kernels and then compiled: an hour, or as many as
# COUNT says, of SEED. Those that fail are kept, and what is left of them when they are reduced.
random_graphs := build/venv/bin/python tests/conformance/random_graphs.py build/release/bin/saltern \
  --keep build/random_graphs
random-graphs: configure
	$(cmake) --build --preset release --target saltern
	$(random_graphs) --seed $(or $(SEED),1) --count $(or $(COUNT),5000)
	$(random_graphs) --seed $(or $(SEED),2) --count $(or $(COUNT),1000) --compiled

# Directed cases, up to 5 minutes a section; sections="layouts special" for some of them.
corner-cases: configure
	$(cmake) --build --preset release --target saltern fashion_mnist
	build/venv/bin/python tests/conformance/corner_cases.py build/release/bin/saltern $(sections)

# Training that is killed 200 times and resumed, beside training that is not.
kill-training: configure
	$(cmake) --build --preset release --target test_apps_killed_training
	KILLS=$(or $(KILLS),200) build/release/bin/test_apps_killed_training

# The run world's tests under the address and undefined-behaviour sanitizers.
sanitize: setup
	@test -f build/sanitize/build.ninja || $(cmake) --preset sanitize
	$(cmake) --build --preset sanitize --target runtime_tests
	$(ctest) --preset sanitize -R '^runtime/'

# Bytes into everything that reads files, under the same sanitizers, until each reader has had RUNS inputs.
RUNS ?= 1000000
fuzz:
	@cmake/setup.sh cmake/fuzz_packages.txt
	@test -f build/fuzz/build.ninja || $(cmake) --preset fuzz
	$(cmake) --build --preset fuzz
	tests/fuzz/run.sh $(RUNS)

format:
	git ls-files '*.h' '*.cpp' '*.c' | xargs clang-format -i

# clang-tidy cannot read gcc's precompiled headers: it looks at a configuration without them.
tidy: build
	$(cmake) --preset release -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
	  -DSALTERN_JOIN_SOURCES=OFF >/dev/null
	$(cmake) --build build/tidy --target onnx_schema
	git ls-files 'runtime/*.cpp' 'apps/*.cpp' 'autoscheduler/*.cpp' 'generators/*.cpp' | \
	  xargs -n 4 -P 2 clang-tidy -p build/tidy --quiet

clean:
	rm -rf build
