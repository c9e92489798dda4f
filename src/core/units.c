/* SPDX-License-Identifier: MIT
 *
 * The closed list of units. Factors are those of docs/FORMAT.md. DMIPS are Dhrystone passes a
 * second over 1757, the VAX 11/780's score; DMIPS/MHz is derived from DMIPS by the measured clock.
 * One MWIPS is 10^6 Whetstone instructions a second.
 */
#include "core/units.h"

#include "core/assert.h"
#include "core/errors.h"
#include "core/text.h"

struct unit {
    const char *name;
    enum ps_dimension dimension;
    double factor;
};

static const struct unit units[PS_N_UNIT] = {
    [PS_UNIT_NS] = {"ns", PS_DIM_TIME, 1},
    [PS_UNIT_US] = {"us", PS_DIM_TIME, 1e3},
    [PS_UNIT_MS] = {"ms", PS_DIM_TIME, 1e6},
    [PS_UNIT_S] = {"s", PS_DIM_TIME, 1e9},
    [PS_UNIT_MB_PER_S] = {"MB/s", PS_DIM_RATE, 1e6},
    [PS_UNIT_MIB_PER_S] = {"MiB/s", PS_DIM_RATE, 1048576},
    [PS_UNIT_KB_PER_S] = {"KB/s", PS_DIM_RATE, 1e3},
    [PS_UNIT_MBIT_PER_S] = {"Mbit/s", PS_DIM_RATE, 1e6},
    [PS_UNIT_PER_S] = {"1/s", PS_DIM_RATE, 1},
    [PS_UNIT_MOPS] = {"Mop/s", PS_DIM_RATE, 1e6},
    [PS_UNIT_KFLOPS] = {"kflop/s", PS_DIM_RATE, 1e3},
    [PS_UNIT_MFLOPS] = {"Mflop/s", PS_DIM_RATE, 1e6},
    [PS_UNIT_DMIPS] = {"DMIPS", PS_DIM_RATE, 1757},
    [PS_UNIT_DMIPS_PER_MHZ] = {"DMIPS/MHz", PS_DIM_NONE, 1},
    [PS_UNIT_MWIPS] = {"MWIPS", PS_DIM_RATE, 1e6},
    [PS_UNIT_MHZ] = {"MHz", PS_DIM_NONE, 1},
    [PS_UNIT_CYCLES] = {"cycles", PS_DIM_NONE, 1},
    [PS_UNIT_PERCENT] = {"%", PS_DIM_NONE, 1},
    [PS_UNIT_BYTES] = {"B", PS_DIM_NONE, 1},
    [PS_UNIT_COUNT] = {"count", PS_DIM_NONE, 1},
    [PS_UNIT_RATIO] = {"ratio", PS_DIM_NONE, 1},
    [PS_UNIT_WATT] = {"W", PS_DIM_NONE, 1},
    [PS_UNIT_CELSIUS] = {"degC", PS_DIM_NONE, 1},
    [PS_UNIT_BIT_PER_S] = {"bit/s", PS_DIM_RATE, 1},
};

const char *ps_unit_name(enum ps_unit unit) {
    PS_ASSERT((unsigned)unit < PS_N_UNIT);
    return units[unit].name;
}

enum ps_dimension ps_unit_dimension(enum ps_unit unit) {
    PS_ASSERT((unsigned)unit < PS_N_UNIT);
    return units[unit].dimension;
}

double ps_unit_factor(enum ps_unit unit) {
    PS_ASSERT((unsigned)unit < PS_N_UNIT);
    return units[unit].factor;
}

int ps_unit_from_name(const char *name, enum ps_unit *ret_unit) {
    for (unsigned i = 0; i < PS_N_UNIT; i++) {
        if (ps_text_equal(name, units[i].name)) {
            *ret_unit = (enum ps_unit)i;
            return 0;
        }
    }
    return -PS_EINVAL;
}
