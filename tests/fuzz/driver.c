/* SPDX-License-Identifier: MIT
 *
 * A deterministic stand-in for libFuzzer: mutations of the seed files given as arguments (and of an
 * empty input), one after the other from a fixed seed, for PS_FUZZ_SECONDS. It sees no coverage;
 * its strength is that every build runs it, under every sanitizer, and that input number N is the
 * same everywhere: PS_FUZZ_INPUT=N runs that one alone. An input that takes over 10 s is a failure.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INPUT_BYTES_MAX 65536
#define SEEDS_MAX 64
#define SECONDS_PER_INPUT 10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seed {
    uint8_t *data;
    size_t size;
};

static struct seed seeds[SEEDS_MAX];
static size_t n_seeds;
static uint64_t state;
static volatile uint64_t input_number;

static uint64_t draw(uint64_t bound) {
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % bound;
}

/* ---- Mutations ------------------------------------------------------------------------------ */

static const char *const tokens[] = {"{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ":",
                                     "\"",
                                     "\\",
                                     "\n",
                                     "\r\n",
                                     "\t",
                                     " ",
                                     "-",
                                     "+",
                                     ".",
                                     "0",
                                     "1",
                                     "-1",
                                     "1e308",
                                     "1e-320",
                                     "-1e308",
                                     "0.1",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "18446744073709551615",
                                     "18446744073709551616",
                                     "4294967295",
                                     "4294967296",
                                     "2147483648",
                                     "1023",
                                     "1024",
                                     "65536",
                                     "null",
                                     "true",
                                     "false",
                                     "\\u0000",
                                     "\\ud800",
                                     "\\u00e9",
                                     "\xc3\xa9",
                                     "\xff",
                                     "\"a\":",
                                     "[]",
                                     "{}",
                                     "[[[[[[[[[[[[[[[[[",
                                     "nan",
                                     "inf",
                                     "0x10",
                                     "0-3",
                                     "0,2-7:2",
                                     "*",
                                     "?",
                                     "!",
                                     "@",
                                     "#",
                                     "=",
                                     "%s",
                                     "%n",
                                     "/",
                                     "..",
                                     "tag:",
                                     "ok",
                                     "failed",
                                     "core",
                                     "memory",
                                     "wake",
                                     "rate",
                                     "time",
                                     "reading",
                                     "derived",
                                     "median",
                                     "lower-half",
                                     "at-least",
                                     "scaling"};
#define N_TOKENS (sizeof(tokens) / sizeof(tokens[0]))

static size_t insert(uint8_t *data, size_t size, size_t at, const void *piece, size_t length) {
    if (length > INPUT_BYTES_MAX - size)
        return size;
    memmove(data + at + length, data + at, size - at);
    memcpy(data + at, piece, length);
    return size + length;
}

static size_t erase(uint8_t *data, size_t size, size_t at, size_t length) {
    memmove(data + at, data + at + length, size - at - length);
    return size - length;
}

/* From `at`, the end of the number or word that it is in. */
static size_t word_end(const uint8_t *data, size_t size, size_t at) {
    while (at < size && strchr("0123456789+-.eEabcdfghijklmnopqrstuvwxyz", data[at]) && data[at])
        at++;
    return at;
}

static size_t mutate_once(uint8_t *data, size_t size) {
    uint8_t piece[256];
    size_t at = (size_t)draw(size + 1), left = size - at, length;
    const char *token = tokens[draw(N_TOKENS)];
    switch (draw(8)) {
    case 0: /* a bit */
        if (left)
            data[at] ^= (uint8_t)(1u << draw(8));
        return size;
    case 1: /* a byte */
        if (left)
            data[at] = (uint8_t)draw(256);
        return size;
    case 2:
        return insert(data, size, at, token, strlen(token));
    case 3: /* another number or word */
        length = word_end(data, size, at) - at;
        size = erase(data, size, at, length);
        return insert(data, size, at, token, strlen(token));
    case 4: /* drop a piece */
        length = left ? (size_t)draw(left < 64 ? left : 64) + 1 : 0;
        return erase(data, size, at, length < left ? length : left);
    case 5: /* repeat a piece */
        length = left < sizeof(piece) ? left : (size_t)draw(sizeof(piece));
        memcpy(piece, data + at, length);
        return insert(data, size, (size_t)draw(size + 1), piece, length);
    case 6: { /* a piece of a seed */
        const struct seed *seed = &seeds[draw(n_seeds)];
        size_t from = (size_t)draw(seed->size + 1), most = seed->size - from;
        return insert(data, size, at, seed->data + from,
                      (size_t)draw((most < 1024 ? most : 1024) + 1));
    }
    default: /* cut, or swap a word for another of the input */
        if (draw(4) == 0)
            return at;
        length = word_end(data, size, at) - at;
        length = length < sizeof(piece) ? length : sizeof(piece);
        memcpy(piece, data + at, length);
        at = (size_t)draw(size + 1);
        size = erase(data, size, at, word_end(data, size, at) - at);
        return insert(data, size, at, piece, length);
    }
}

static void run_input(uint64_t number) {
    static uint8_t work[INPUT_BYTES_MAX];
    input_number = number;
    state = number * UINT64_C(0x2545f4914f6cdd1d);
    const struct seed *seed = &seeds[number % n_seeds];
    size_t size = seed->size;
    memcpy(work, seed->data, size);
    for (uint64_t i = number < n_seeds ? 0 : 1 + draw(8); i > 0; i--) /* seeds themselves first */
        size = mutate_once(work, size);
    /* A block of its own size, so that a sanitizer sees a read beyond it. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        exit(2);
    memcpy(exact, work, size);
    alarm(SECONDS_PER_INPUT);
    LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    free(exact);
}

/* ---- Reports -------------------------------------------------------------------------------- */

static void say_input(void) {
    char text[96];
    int length = snprintf(text, sizeof(text), "fuzz: input %llu (PS_FUZZ_INPUT repeats it)\n",
                          (unsigned long long)input_number);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(3);
}

static void on_signal(int number) {
    say_input();
    signal(number, SIG_DFL);
    raise(number);
}

/* Sanitizers end by SIGABRT, for the handler above to say which input it was, and at once. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void) {
    return "abort_on_error=1:handle_abort=0";
}
const char *__ubsan_default_options(void) {
    return "abort_on_error=1:halt_on_error=1:print_stacktrace=1";
}

static int read_seed(const char *path) {
    FILE *file = fopen(path, "rb");
    struct seed *seed = &seeds[n_seeds];
    seed->data = malloc(INPUT_BYTES_MAX);
    if (!file || !seed->data) {
        fprintf(stderr, "fuzz: %s cannot be read\n", path);
        if (file)
            fclose(file);
        return -1;
    }
    seed->size = fread(seed->data, 1, INPUT_BYTES_MAX, file);
    fclose(file);
    n_seeds++;
    return 0;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    static uint8_t nothing[1];
    const char *seconds = getenv("PS_FUZZ_SECONDS"), *one = getenv("PS_FUZZ_INPUT");
    for (int i = 1; i < argc && n_seeds + 1 < SEEDS_MAX; i++)
        if (read_seed(argv[i]) != 0)
            return 2;
    seeds[n_seeds++] = (struct seed){.data = nothing, .size = 0};
    static const int fatal[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
        struct sigaction action;
        if (sigaction(fatal[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            signal(fatal[i], on_signal); /* a sanitizer that is there says more */
    }
    if (one) {
        run_input(strtoull(one, NULL, 10));
        return 0;
    }
    double end = now_s() + (seconds ? atof(seconds) : 3.0);
    uint64_t number = 0;
    do
        run_input(number++);
    while (now_s() < end || number < n_seeds);
    printf("%llu inputs of %zu seeds\n", (unsigned long long)number, n_seeds);
    for (size_t i = 0; i + 1 < n_seeds; i++)
        free(seeds[i].data);
    return 0;
}
