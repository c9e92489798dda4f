/* SPDX-License-Identifier: MIT
 *
 * The sheet's words for the enumerators of a declaration (docs/FORMAT.md, "case").
 */
#include "core/assert.h"
#include "core/record.h"

/* A name out of a table that has one for every enumerator. */
#define NAME(table, value)                                                                         \
    (PS_ASSERT((unsigned)(value) < sizeof(table) / sizeof((table)[0])), (table)[(unsigned)(value)])

const char *ps_bound_name(enum ps_bound bound) {
    static const char *const names[] = {[PS_BOUND_AUTO] = "auto",
                                        [PS_BOUND_CORE] = "core",
                                        [PS_BOUND_MEMORY] = "memory",
                                        [PS_BOUND_WAKE] = "wake",
                                        [PS_BOUND_DEVICE] = "device"};
    return NAME(names, bound);
}

const char *ps_stat_name(enum ps_stat stat) {
    static const char *const names[] = {[PS_STAT_AUTO] = "auto",
                                        [PS_STAT_MEDIAN] = "median",
                                        [PS_STAT_P25] = "p25",
                                        [PS_STAT_P10] = "p10",
                                        [PS_STAT_MIN] = "min",
                                        [PS_STAT_MEAN] = "mean",
                                        [PS_STAT_LOWER_HALF] = "lower-half"};
    return NAME(names, stat);
}

const char *ps_metric_kind_name(enum ps_metric_kind kind) {
    static const char *const names[] = {
        [PS_TIME] = "time", [PS_RATE] = "rate", [PS_READING] = "reading", [PS_DERIVED] = "derived"};
    return NAME(names, kind);
}

const char *ps_derivation_name(enum ps_derivation derivation) {
    static const char *const names[] = {[PS_DERIVE_NONE] = "none",
                                        [PS_DERIVE_SCALE] = "scale",
                                        [PS_DERIVE_PER_MHZ] = "per-mhz",
                                        [PS_DERIVE_CLOCK] = "clock"};
    return NAME(names, derivation);
}

const char *ps_better_name(enum ps_better better) {
    static const char *const names[] = {[PS_BETTER_LOWER] = "lower",
                                        [PS_BETTER_HIGHER] = "higher",
                                        [PS_BETTER_NEITHER] = "neither"};
    return NAME(names, better);
}

const char *ps_depends_name(enum ps_depends depends) {
    static const char *const names[] = {[PS_DEPENDS_NOTHING] = "nothing",
                                        [PS_DEPENDS_LIBC] = "libc",
                                        [PS_DEPENDS_LIBCRYPTO] = "libcrypto",
                                        [PS_DEPENDS_COMPILER] = "compiler"};
    return NAME(names, depends);
}

const char *ps_comparable_name(enum ps_comparable comparable) {
    static const char *const names[] = {[PS_COMPARABLE_YES] = "yes",
                                        [PS_COMPARABLE_APPROX] = "approx",
                                        [PS_COMPARABLE_SCALING] = "scaling",
                                        [PS_COMPARABLE_NO] = "no"};
    return NAME(names, comparable);
}

const char *ps_relation_name(enum ps_relation_type type) {
    static const char *const names[] = {[PS_ORDER_AT_LEAST] = "at-least",
                                        [PS_ORDER_AT_MOST] = "at-most",
                                        [PS_SCALING] = "scaling",
                                        [PS_NEAR] = "near",
                                        [PS_WHOLE_CYCLES] = "whole-cycles"};
    return NAME(names, type);
}

const char *ps_pairing_name(enum ps_pairing pairing) {
    static const char *const names[] = {[PS_PAIR_NONE] = "none",
                                        [PS_PAIR_SAME_CPU] = "same-cpu",
                                        [PS_PAIR_CROSS_CPU] = "cross-cpu",
                                        [PS_PAIR_CROSS_CLUSTER] = "cross-cluster"};
    return NAME(names, pairing);
}

const char *ps_pages_name(enum ps_pages pages) {
    static const char *const names[] = {
        [PS_PAGES_ANY] = "any", [PS_PAGES_BASE] = "base", [PS_PAGES_HUGE] = "huge"};
    return NAME(names, pages);
}
