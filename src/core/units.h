/* SPDX-License-Identifier: MIT
 *
 * The closed list of units (docs/FORMAT.md). A unit is time-like, rate-like or neither; the factor
 * turns the base quantity (nanoseconds; units of work per second) into the printed number.
 */
#ifndef PS_CORE_UNITS_H
#define PS_CORE_UNITS_H

enum ps_dimension {
    PS_DIM_TIME, /* base: ns */
    PS_DIM_RATE, /* base: counted units per second */
    PS_DIM_NONE, /* percent, MHz, cycles, bytes ...: as pushed or derived */
};

enum ps_unit {
    PS_UNIT_NS,
    PS_UNIT_US,
    PS_UNIT_MS,
    PS_UNIT_S,
    PS_UNIT_MB_PER_S,   /* 10^6 bytes a second */
    PS_UNIT_MIB_PER_S,  /* 2^20 bytes a second */
    PS_UNIT_KB_PER_S,   /* 10^3 bytes a second */
    PS_UNIT_MBIT_PER_S, /* 10^6 bits a second; the counted unit is a bit */
    PS_UNIT_PER_S,      /* operations a second */
    PS_UNIT_MOPS,       /* 10^6 operations a second */
    PS_UNIT_KFLOPS,
    PS_UNIT_MFLOPS,
    PS_UNIT_DMIPS,
    PS_UNIT_DMIPS_PER_MHZ,
    PS_UNIT_MWIPS,
    PS_UNIT_MHZ,
    PS_UNIT_CYCLES,
    PS_UNIT_PERCENT,
    PS_UNIT_BYTES,
    PS_UNIT_COUNT,
    PS_UNIT_RATIO,
    PS_UNIT_WATT,
    PS_UNIT_CELSIUS,
    PS_UNIT_BIT_PER_S,
    PS_N_UNIT
};

/* "ns", "MB/s" ...: the sheet's spelling; never NULL. */
const char *ps_unit_name(enum ps_unit unit);
enum ps_dimension ps_unit_dimension(enum ps_unit unit);
/* Base units in one printed unit: 1000 for us (ns), 1e6 for MB/s (bytes/s). */
double ps_unit_factor(enum ps_unit unit);
/* 0, or -22 for an unknown word. */
int ps_unit_from_name(const char *name, enum ps_unit *ret_unit);

#endif
