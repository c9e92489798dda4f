set(PS_BOARD_FLAGS -mcpu=cortex-m3 -mthumb)
set(PS_BOARD_TEXT_BYTES_MAX 262144) # 256 KiB
set(PS_BOARD_RAM_BYTES_MAX 65536)   # 64 KiB of data, bss and stack; the arena is beside it
