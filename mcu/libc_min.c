/* SPDX-License-Identifier: MIT
 *
 * The functions of the C library that compiler, kernels and tables call, for boards that have
 * none. bzero and bcopy rows time memset and memmove, Dhrystone strcpy and strcmp: rows that depend
 * on libc say on such a board what these do.
 *
 * Words where the alignment allows, bytes else. Compiled so that the compiler does not turn the
 * loops into calls of the very functions that they are (CMakeLists.txt).
 */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
char *strcpy(char *restrict to, const char *restrict from);
int strcmp(const char *a, const char *b);

/* May alias anything. */
typedef uint32_t __attribute__((may_alias)) word;
#define WORD sizeof(word)
#define ONES UINT32_C(0x01010101)
#define HIGHS UINT32_C(0x80808080)

static int aligned(const void *a, const void *b) {
    return (((uintptr_t)a | (uintptr_t)b) & (WORD - 1)) == 0;
}

/* Is one of the word's bytes zero? */
static int has_zero(uint32_t value) {
    return ((value - ONES) & ~value & HIGHS) != 0;
}

static void copy_up(unsigned char *to, const unsigned char *from, size_t bytes) {
    if (aligned(to, from)) {
        word *to_word = (word *)(void *)to;
        const word *from_word = (const word *)(const void *)from;
        for (; bytes >= 4 * WORD; bytes -= 4 * WORD) {
            uint32_t a = from_word[0], b = from_word[1], c = from_word[2], d = from_word[3];
            to_word[0] = a;
            to_word[1] = b;
            to_word[2] = c;
            to_word[3] = d;
            to_word += 4;
            from_word += 4;
        }
        for (; bytes >= WORD; bytes -= WORD)
            *to_word++ = *from_word++;
        to = (unsigned char *)to_word;
        from = (const unsigned char *)from_word;
    }
    while (bytes-- > 0)
        *to++ = *from++;
}

static void copy_down(unsigned char *to, const unsigned char *from, size_t bytes) {
    to += bytes;
    from += bytes;
    if (aligned(to, from)) {
        word *to_word = (word *)(void *)to;
        const word *from_word = (const word *)(const void *)from;
        for (; bytes >= WORD; bytes -= WORD)
            *--to_word = *--from_word;
        to = (unsigned char *)to_word;
        from = (const unsigned char *)from_word;
    }
    while (bytes-- > 0)
        *--to = *--from;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    copy_up(to, from, bytes);
    return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
    if ((uintptr_t)to - (uintptr_t)from >= bytes) /* also when `to` lies below */
        copy_up(to, from, bytes);
    else
        copy_down(to, from, bytes);
    return to;
}

void *memset(void *to, int value, size_t bytes) {
    unsigned char *byte = to;
    uint32_t four = (unsigned char)value * ONES;
    for (; bytes > 0 && !aligned(byte, byte); bytes--)
        *byte++ = (unsigned char)value;
    word *words = (word *)(void *)byte;
    for (; bytes >= 4 * WORD; bytes -= 4 * WORD) {
        words[0] = words[1] = words[2] = words[3] = four;
        words += 4;
    }
    for (byte = (unsigned char *)words; bytes > 0; bytes--)
        *byte++ = (unsigned char)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes) {
    const unsigned char *x = a, *y = b;
    for (; bytes > 0; bytes--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

/* A word that holds the end is copied byte by byte; reading the rest of an aligned word is safe. */
char *strcpy(char *restrict to, const char *restrict from) {
    char *start = to;
    if (aligned(to, from)) {
        word *to_word = (word *)(void *)to;
        const word *from_word = (const word *)(const void *)from;
        while (!has_zero(*from_word))
            *to_word++ = *from_word++;
        to = (char *)to_word;
        from = (const char *)from_word;
    }
    while ((*to++ = *from++) != '\0')
        continue;
    return start;
}

int strcmp(const char *a, const char *b) {
    if (aligned(a, b)) {
        const word *x = (const word *)(const void *)a, *y = (const word *)(const void *)b;
        while (*x == *y && !has_zero(*x)) {
            x++;
            y++;
        }
        a = (const char *)x;
        b = (const char *)y;
    }
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a < (unsigned char)*b ? -1 : (unsigned char)*a > (unsigned char)*b;
}
