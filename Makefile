# The commands that the README names. Everything is built under build/.
cmake := build/venv/bin/cmake
ctest := build/venv/bin/ctest

.PHONY: demo test bench setup build clean

setup:
	@cmake/setup.sh

build/release/build.ninja: | setup
	$(cmake) --preset release

build: setup build/release/build.ninja
	$(cmake) --build --preset release

test: build
	$(ctest) --preset release

bench: build
	build/release/bin/kernels_bench

clean:
	rm -rf build
