/* SPDX-License-Identifier: MIT
 *
 * Text and numbers without libc. Doubles are converted exactly: a double is m x 2^e, hence the
 * whole number m x 2^e, or m x 5^-e with the decimal point moved by -e; that number is computed in
 * limbs of nine digits, and rounded once, in decimal, half away from zero. 17 digits therefore
 * round-trip.
 */
#include "core/text.h"

#include "core/assert.h"

/* The longest: 2^53 x 5^1074 has 767 digits. */
#define LIMBS_MAX 86
#define DIGITS_MAX (LIMBS_MAX * 9)
#define LIMB_BASE 1000000000u

/* 0.d1 d2 d3 ... x 10^point. n is 0 for zero. */
struct decimal {
    char digits[DIGITS_MAX];
    int n;
    int point;
};

struct bignum {
    uint32_t limbs[LIMBS_MAX]; /* least significant first */
    unsigned n;
};

void ps_text_init(struct ps_text *text, char *data, size_t size_bytes) {
    PS_ASSERT(size_bytes > 0);
    text->data = data;
    text->size_bytes = size_bytes;
    text->length = 0;
    text->cut = false;
    data[0] = '\0';
}

void ps_text_add_char(struct ps_text *text, char c) {
    if (text->length + 1 >= text->size_bytes) {
        text->cut = true;
        return;
    }
    text->data[text->length++] = c;
    text->data[text->length] = '\0';
}

void ps_text_add(struct ps_text *text, const char *string) {
    for (; *string != '\0'; string++)
        ps_text_add_char(text, *string);
}

void ps_text_add_u64(struct ps_text *text, uint64_t value) {
    char digits[20]; /* 2^64 has 20 */
    unsigned n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n > 0)
        ps_text_add_char(text, digits[--n]);
}

void ps_text_add_i64(struct ps_text *text, int64_t value) {
    if (value < 0)
        ps_text_add_char(text, '-');
    /* Negated as unsigned: the smallest has no positive twin. */
    ps_text_add_u64(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

bool ps_text_equal(const char *a, const char *b) {
    if (a == NULL || b == NULL)
        return a == b;
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static void multiply(struct bignum *big, uint32_t factor) {
    uint64_t carry = 0;
    for (unsigned i = 0; i < big->n; i++) {
        carry += (uint64_t)big->limbs[i] * factor;
        big->limbs[i] = (uint32_t)(carry % LIMB_BASE);
        carry /= LIMB_BASE;
    }
    if (carry > 0) {
        PS_ASSERT(big->n < LIMBS_MAX);
        big->limbs[big->n++] = (uint32_t)carry;
    }
}

static void multiply_power(struct bignum *big, uint32_t base, unsigned power) {
    /* In steps that fit one limb: 2^29 and 5^12 are the largest below 10^9. */
    unsigned step = base == 2 ? 29 : 12;
    while (power > 0) {
        uint32_t factor = 1;
        for (unsigned i = 0; i < step && power > 0; i++, power--)
            factor *= base;
        multiply(big, factor);
    }
}

/* `mantissa` x 2^exponent, mantissa > 0. */
static void decimal_from(struct decimal *decimal, uint64_t mantissa, int exponent) {
    while (exponent < 0 && (mantissa & 1) == 0) {
        mantissa >>= 1;
        exponent++;
    }
    struct bignum big = {.n = 0};
    for (; mantissa > 0; mantissa /= LIMB_BASE)
        big.limbs[big.n++] = (uint32_t)(mantissa % LIMB_BASE);
    if (exponent > 0)
        multiply_power(&big, 2, (unsigned)exponent);
    else
        multiply_power(&big, 5, (unsigned)-exponent);

    int n = 0;
    for (unsigned i = big.n; i-- > 0;) {
        uint32_t limb = big.limbs[i];
        for (uint32_t unit = LIMB_BASE / 10; unit > 0; unit /= 10) {
            uint32_t digit = limb / unit % 10;
            if (n > 0 || digit > 0)
                decimal->digits[n++] = (char)('0' + digit);
        }
    }
    decimal->n = n;
    decimal->point = exponent < 0 ? n + exponent : n;
}

/* To `keep` digits, which may be 0 or less. */
static void decimal_round(struct decimal *decimal, int keep) {
    if (keep < decimal->n) {
        bool up = keep >= 0 && decimal->digits[keep] >= '5';
        decimal->n = keep > 0 ? keep : 0;
        int i = decimal->n - 1;
        while (up && i >= 0 && decimal->digits[i] == '9')
            i--;
        if (up && i >= 0) {
            decimal->digits[i]++;
            decimal->n = i + 1;
        } else if (up) { /* all nines, or nothing kept: 10^point */
            decimal->digits[0] = '1';
            decimal->n = 1;
            decimal->point++;
        }
    }
    while (decimal->n > 0 && decimal->digits[decimal->n - 1] == '0')
        decimal->n--;
}

/* False for a value that is not finite. */
static bool decompose(double value, bool *ret_negative, struct decimal *ret_decimal) {
    uint64_t bits;
    _Static_assert(sizeof(bits) == sizeof(value), "IEEE 754 binary64");
    __builtin_memcpy(&bits, &value, sizeof(bits));
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff)
        return false;
    *ret_negative = bits >> 63 != 0;
    ret_decimal->n = 0;
    ret_decimal->point = 0;
    if (exponent > 0)
        decimal_from(ret_decimal, fraction | UINT64_C(1) << 52, exponent - 1075);
    else if (fraction > 0)
        decimal_from(ret_decimal, fraction, -1074);
    return true;
}

/* Digit number i behind the first, '0' outside. */
static char digit_at(const struct decimal *decimal, int i) {
    return i >= 0 && i < decimal->n ? decimal->digits[i] : '0';
}

static void add_plain(struct ps_text *text, const struct decimal *decimal, int decimals) {
    for (int i = decimal->point < 1 ? decimal->point - 1 : 0; i < decimal->point; i++)
        ps_text_add_char(text, digit_at(decimal, i));
    if (decimals > 0)
        ps_text_add_char(text, '.');
    for (int i = 0; i < decimals; i++)
        ps_text_add_char(text, digit_at(decimal, decimal->point + i));
}

static void add_scientific(struct ps_text *text, const struct decimal *decimal) {
    ps_text_add_char(text, decimal->digits[0]);
    if (decimal->n > 1)
        ps_text_add_char(text, '.');
    for (int i = 1; i < decimal->n; i++)
        ps_text_add_char(text, decimal->digits[i]);
    ps_text_add_char(text, 'e');
    ps_text_add_i64(text, decimal->point - 1);
}

void ps_text_add_double(struct ps_text *text, double value, unsigned digits) {
    PS_ASSERT(digits >= 1 && digits <= 17);
    struct decimal decimal;
    bool negative;
    if (!decompose(value, &negative, &decimal)) {
        ps_text_add(text, "null");
        return;
    }
    decimal_round(&decimal, (int)digits);
    if (decimal.n == 0) {
        ps_text_add_char(text, '0');
        return;
    }
    if (negative)
        ps_text_add_char(text, '-');
    /* Plain where it stays readable: from 0.00001 to whole numbers of 17 digits. */
    if (decimal.point > -5 && decimal.point <= 17)
        add_plain(text, &decimal, decimal.n > decimal.point ? decimal.n - decimal.point : 0);
    else
        add_scientific(text, &decimal);
}

void ps_text_add_fixed(struct ps_text *text, double value, unsigned decimals) {
    PS_ASSERT(decimals <= 1100); /* more than any double has */
    struct decimal decimal;
    bool negative;
    if (!decompose(value, &negative, &decimal)) {
        ps_text_add(text, "null");
        return;
    }
    decimal_round(&decimal, decimal.point + (int)decimals);
    if (decimal.n == 0)
        decimal.point = 0;
    else if (negative)
        ps_text_add_char(text, '-');
    add_plain(text, &decimal, (int)decimals);
}

size_t ps_utf8_length(const char *at, size_t left) {
    const unsigned char *s = (const unsigned char *)at;
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t length;
    if (left == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        length = 2;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        length = 3;
        low = s[0] == 0xe0 ? 0xa0 : low;
        high = s[0] == 0xed ? 0x9f : high;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        length = 4;
        low = s[0] == 0xf0 ? 0x90 : low;
        high = s[0] == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    if (left < length || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (s[i] < 0x80 || s[i] > 0xbf)
            return 0;
    return length;
}
