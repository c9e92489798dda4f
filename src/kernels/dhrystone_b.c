/* SPDX-License-Identifier: MIT
 *
 * Dhrystone, second file: procedures 6 to 8 and the functions. The first file cannot see into it.
 */
#include "kernels/dhrystone.h"

void PSK_D(p6)(enum psk_dhrystone_ident value, enum psk_dhrystone_ident *out) {
    *out = value;
    if (!PSK_D(f3)(value))
        *out = PSK_IDENT_4;
    switch (value) {
    case PSK_IDENT_1:
        *out = PSK_IDENT_1;
        break;
    case PSK_IDENT_2:
        *out = PSK_D(int_global) > 100 ? PSK_IDENT_1 : PSK_IDENT_4;
        break;
    case PSK_IDENT_3:
        *out = PSK_IDENT_2; /* the one that runs */
        break;
    case PSK_IDENT_4:
        break;
    case PSK_IDENT_5:
        *out = PSK_IDENT_3;
        break;
    }
}

void PSK_D(p7)(int a, int b, int *out) {
    int sum = a + 2;
    *out = b + sum;
}

void PSK_D(p8)(int one[50], int two[50][50], int i1, int i3) {
    int at = i1 + 5;
    one[at] = i3;
    one[at + 1] = one[at];
    one[at + 30] = at;
    for (int k = at; k <= at + 1; k++)
        two[at][k] = at;
    two[at][at - 1]++;
    two[at + 20][at] = one[at];
    PSK_D(int_global) = 5;
}

enum psk_dhrystone_ident PSK_D(f1)(char x, char y) {
    char first = x;
    char second = first;
    if (second != y)
        return PSK_IDENT_1;
    PSK_D(char_1) = first;
    return PSK_IDENT_2;
}

bool PSK_D(f2)(char *s, char *t) {
    int k = 2;
    char c = 0;
    while (k <= 2) { /* one turn */
        if (PSK_D(f1)(s[k], t[k + 1]) == PSK_IDENT_1) {
            c = 'A';
            k++;
        }
    }
    if (c >= 'W' && c < 'Z')
        k = 7;
    if (c == 'R')
        return true;
    if (strcmp(s, t) > 0) {
        k += 7;
        PSK_D(int_global) = k;
        return true;
    }
    return false;
}

bool PSK_D(f3)(enum psk_dhrystone_ident value) {
    enum psk_dhrystone_ident local = value;
    return local == PSK_IDENT_3;
}
