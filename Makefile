# Thin: what people type. The build itself is CMakeLists.txt.
BUILD      := build/release
TEST_BUILD := build/test
# What the product needs, and what its tests need besides (Debian's names).
PACKAGES      := gcc cmake ninja-build git
TEST_PACKAGES := $(PACKAGES) clang clang-format clang-tidy shellcheck libcmocka-dev libclang-rt-dev valgrind \
	musl-tools gcc-arm-none-eabi gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm qemu-user \
	gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
	jq python3 expect man-db bash-completion procps util-linux

.PHONY: all run test test-long deps test-deps format lint mcu man clean

all: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DPS_TESTS=OFF >/dev/null
	@cmake --build $(BUILD)

# 3 means that some row is suspect: the page says which.
run: all
	@$(BUILD)/perfsheet run --quick || test $$? -eq 3

deps:
	@tools/install_packages $(PACKAGES)

test-deps:
	@tools/install_packages $(TEST_PACKAGES)

test: test-deps
	@tools/run_tests

test-long: test-deps
	@PS_LONG=1 tools/run_tests

mcu:
	@tools/install_packages $(PACKAGES) gcc-arm-none-eabi
	@cmake -S mcu -B build/mcu -G Ninja -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/mcu/toolchain-arm-none-eabi.cmake >/dev/null
	@cmake --build build/mcu

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

lint:
	@bash tests/lint/test_format.sh && python3 tests/lint/test_layers.py && bash tests/lint/test_tidy.sh

man: all
	@$(BUILD)/perfsheet --man > build/perfsheet.1
	@$(BUILD)/perfsheet --completion > build/perfsheet.bash

clean:
	@rm -rf build
