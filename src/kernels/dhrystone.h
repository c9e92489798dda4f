/* SPDX-License-Identifier: MIT
 *
 * Dhrystone 2.1's statement mix: an independent implementation from its published description (R.
 * P. Weicker, CACM 27(10), 1984, and the 2.1 ground rules: two files, no merging of procedures).
 * Own text in the strings, with the same lengths, order and first difference.
 *
 * The two files are compiled once per variant, with PSK_SUFFIX saying which: what the compiler may
 * do is part of the number (variants.cmake). Globals are in the definition and stay.
 */
#ifndef PSK_DHRYSTONE_H
#define PSK_DHRYSTONE_H

#include <stdbool.h>

/* The C library's, or on a microcontroller our own: both are part of what is timed. */
char *strcpy(char *restrict to, const char *restrict from);
int strcmp(const char *a, const char *b);

#define PSK_DHRYSTONE_STRING_BYTES 31 /* 30 characters and the NUL */

enum psk_dhrystone_ident { PSK_IDENT_1, PSK_IDENT_2, PSK_IDENT_3, PSK_IDENT_4, PSK_IDENT_5 };

struct psk_dhrystone_record {
    struct psk_dhrystone_record *next;
    enum psk_dhrystone_ident discriminant;
    union {
        struct {
            enum psk_dhrystone_ident ident;
            int number;
            char string[PSK_DHRYSTONE_STRING_BYTES];
        } first;
        struct {
            enum psk_dhrystone_ident ident;
            char string[PSK_DHRYSTONE_STRING_BYTES];
        } second;
        struct {
            char one, two;
        } third;
    } variant;
};

/* The caller's memory: the two records that the original allocates, and what the main program's
 * local variables were after the last pass. */
struct psk_dhrystone {
    struct psk_dhrystone_record global, next;
    int i1, i2, i3;
    enum psk_dhrystone_ident ident;
    char s1[PSK_DHRYSTONE_STRING_BYTES], s2[PSK_DHRYSTONE_STRING_BYTES];
};

/* One variant's entry points. */
struct psk_dhrystone_variant {
    /* Globals and records as before the first pass. */
    void (*init)(struct psk_dhrystone *d);
    /* `passes` passes more; passes >= 1, at most INT_MAX - 10 since init (a counter is an int). */
    void (*run)(struct psk_dhrystone *d, int passes);
    /* Is everything as it must be after that many passes since init? */
    bool (*right)(const struct psk_dhrystone *d, int passes);
    const char *flags; /* what it was compiled with */
};
extern const struct psk_dhrystone_variant psk_dhrystone_strict, psk_dhrystone_vendor;

/* ---- Inside the two files ------------------------------------------------------------------- */

#ifdef PSK_SUFFIX
#define PSK_PASTE_(a, b) psk_dhrystone_##a##_##b
#define PSK_PASTE(a, b) PSK_PASTE_(a, b)
#define PSK_D(name) PSK_PASTE(PSK_SUFFIX, name)

extern int PSK_D(int_global);
extern bool PSK_D(bool_global);
extern char PSK_D(char_1), PSK_D(char_2);
extern int PSK_D(array_1)[50], PSK_D(array_2)[50][50];
extern struct psk_dhrystone_record *PSK_D(record), *PSK_D(next_record);

void PSK_D(p6)(enum psk_dhrystone_ident value, enum psk_dhrystone_ident *out);
void PSK_D(p7)(int a, int b, int *out);
void PSK_D(p8)(int one[50], int two[50][50], int i1, int i3);
enum psk_dhrystone_ident PSK_D(f1)(char x, char y);
bool PSK_D(f2)(char *s, char *t);
bool PSK_D(f3)(enum psk_dhrystone_ident value);
#endif

#endif
