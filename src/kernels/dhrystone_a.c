/* SPDX-License-Identifier: MIT
 *
 * Dhrystone, first file: the main program's loop and procedures 1 to 5.
 */
#include "kernels/dhrystone.h"

#include "core/keep.h"

/* 30 characters each; the three numbered ones differ first at index 19, and [2] of the first is not
 * [3] of the second, on which one branch depends. */
#define STRING_1 "PERFSHEET STRINGS, 1'ST RECORD"
#define STRING_2 "PERFSHEET STRINGS, 2'ND RECORD"
#define STRING_3 "PERFSHEET STRINGS, 3'RD RECORD"
#define STRING_A "PERFSHEET STRINGS, SOME RECORD"
_Static_assert(sizeof(STRING_1) == PSK_DHRYSTONE_STRING_BYTES, "31 bytes");
_Static_assert(sizeof(STRING_2) == PSK_DHRYSTONE_STRING_BYTES, "31 bytes");
_Static_assert(sizeof(STRING_3) == PSK_DHRYSTONE_STRING_BYTES, "31 bytes");
_Static_assert(sizeof(STRING_A) == PSK_DHRYSTONE_STRING_BYTES, "31 bytes");

int PSK_D(int_global);
bool PSK_D(bool_global);
char PSK_D(char_1), PSK_D(char_2);
int PSK_D(array_1)[50], PSK_D(array_2)[50][50];
struct psk_dhrystone_record *PSK_D(record), *PSK_D(next_record);

/* Not static, so that the compiler keeps each as a procedure when it may not inline. */
void PSK_D(p1)(struct psk_dhrystone_record *record);
void PSK_D(p2)(int *number);
void PSK_D(p3)(struct psk_dhrystone_record **out);
void PSK_D(p4)(void);
void PSK_D(p5)(void);
void PSK_D(init)(struct psk_dhrystone *d);
void PSK_D(run)(struct psk_dhrystone *d, int passes);
bool PSK_D(right)(const struct psk_dhrystone *d, int passes);

void PSK_D(p1)(struct psk_dhrystone_record *record) {
    struct psk_dhrystone_record *next = record->next;
    *next = *PSK_D(record);
    record->variant.first.number = 5;
    next->variant.first.number = record->variant.first.number;
    next->next = record->next;
    PSK_D(p3)(&next->next);
    if (next->discriminant == PSK_IDENT_1) { /* always */
        next->variant.first.number = 6;
        PSK_D(p6)(record->variant.first.ident, &next->variant.first.ident);
        next->next = PSK_D(record)->next;
        PSK_D(p7)(next->variant.first.number, 10, &next->variant.first.number);
    } else {
        *record = *record->next;
    }
}

void PSK_D(p2)(int *number) {
    int local = *number + 10;
    enum psk_dhrystone_ident ident = PSK_IDENT_2;
    do { /* one turn */
        if (PSK_D(char_1) == 'A') {
            local--;
            *number = local - PSK_D(int_global);
            ident = PSK_IDENT_1;
        }
    } while (ident != PSK_IDENT_1);
}

void PSK_D(p3)(struct psk_dhrystone_record **out) {
    if (PSK_D(record))
        *out = PSK_D(record)->next;
    PSK_D(p7)(10, PSK_D(int_global), &PSK_D(record)->variant.first.number);
}

void PSK_D(p4)(void) {
    bool is_a = PSK_D(char_1) == 'A';
    PSK_D(bool_global) = is_a | PSK_D(bool_global);
    PSK_D(char_2) = 'B';
}

void PSK_D(p5)(void) {
    PSK_D(char_1) = 'A';
    PSK_D(bool_global) = false;
}

void PSK_D(run)(struct psk_dhrystone *d, int passes) {
    int i1 = 0, i2 = 0, i3 = 0;
    enum psk_dhrystone_ident ident = PSK_IDENT_1;
    char s1[PSK_DHRYSTONE_STRING_BYTES], s2[PSK_DHRYSTONE_STRING_BYTES];
    strcpy(s1, STRING_1);
    char *first = s1;
    PS_LAUNDER(first); /* its contents are nobody's to know */
    for (int pass = 1; pass <= passes; pass++) {
        PSK_D(p5)();
        PSK_D(p4)();
        i1 = 2;
        i2 = 3;
        strcpy(s2, STRING_2);
        ident = PSK_IDENT_2;
        PSK_D(bool_global) = !PSK_D(f2)(first, s2);
        while (i1 < i2) { /* one turn */
            i3 = 5 * i1 - i2;
            PSK_D(p7)(i1, i2, &i3);
            i1++;
        }
        PSK_D(p8)(PSK_D(array_1), PSK_D(array_2), i1, i3);
        PSK_D(p1)(PSK_D(record));
        for (char c = 'A'; c <= PSK_D(char_2); c++) { /* two turns */
            if (ident == PSK_D(f1)(c, 'C')) {         /* never */
                PSK_D(p6)(PSK_IDENT_1, &ident);
                strcpy(s2, STRING_3);
                i2 = pass;
                PSK_D(int_global) = pass;
            }
        }
        i2 = i2 * i1;
        i1 = i2 / i3;
        i2 = 7 * (i2 - i3) - i1;
        PSK_D(p2)(&i1);
    }
    d->i1 = i1;
    d->i2 = i2;
    d->i3 = i3;
    d->ident = ident;
    __builtin_memcpy(d->s1, first, sizeof(d->s1));
    __builtin_memcpy(d->s2, s2, sizeof(d->s2));
}

void PSK_D(init)(struct psk_dhrystone *d) {
    PSK_D(int_global) = 0;
    PSK_D(bool_global) = false;
    PSK_D(char_1) = PSK_D(char_2) = 0;
    for (int i = 0; i < 50; i++) {
        PSK_D(array_1)[i] = 0;
        for (int k = 0; k < 50; k++)
            PSK_D(array_2)[i][k] = 0;
    }
    PSK_D(array_2)[8][7] = 10;
    *d = (struct psk_dhrystone){0};
    PSK_D(record) = &d->global;
    PSK_D(next_record) = &d->next;
    d->global.next = &d->next;
    d->global.discriminant = PSK_IDENT_1;
    d->global.variant.first.ident = PSK_IDENT_3;
    d->global.variant.first.number = 40;
    strcpy(d->global.variant.first.string, STRING_A);
}

static bool record_right(const struct psk_dhrystone_record *record,
                         const struct psk_dhrystone_record *next, enum psk_dhrystone_ident ident,
                         int number) {
    return record->next == next && record->discriminant == PSK_IDENT_1 &&
           record->variant.first.ident == ident && record->variant.first.number == number &&
           strcmp(record->variant.first.string, STRING_A) == 0;
}

bool PSK_D(right)(const struct psk_dhrystone *d, int passes) {
    bool globals = PSK_D(int_global) == 5 && PSK_D(bool_global) && PSK_D(char_1) == 'A' &&
                   PSK_D(char_2) == 'B' && PSK_D(array_1)[8] == 7 &&
                   PSK_D(array_2)[8][7] == passes + 10;
    bool records = PSK_D(record) == &d->global && PSK_D(next_record) == &d->next &&
                   record_right(&d->global, &d->next, PSK_IDENT_3, 17) &&
                   record_right(&d->next, &d->next, PSK_IDENT_2, 18);
    bool locals = d->i1 == 5 && d->i2 == 13 && d->i3 == 7 && d->ident == PSK_IDENT_2 &&
                  strcmp(d->s1, STRING_1) == 0 && strcmp(d->s2, STRING_2) == 0;
    return globals && records && locals;
}

/* psk_dhrystone_strict, psk_dhrystone_vendor */
#define PSK_VARIANT_(suffix) psk_dhrystone_##suffix
#define PSK_VARIANT(suffix) PSK_VARIANT_(suffix)
const struct psk_dhrystone_variant PSK_VARIANT(PSK_SUFFIX) = {PSK_D(init), PSK_D(run), PSK_D(right),
                                                              PSK_FLAGS};
