/* SPDX-License-Identifier: MIT
 *
 * The sheet's words for statuses and quality marks (docs/FORMAT.md, "Words").
 */
#include "core/status.h"

#include "core/assert.h"
#include "core/errors.h"
#include "core/text.h"

static const char *const status_names[PS_N_STATUS] = {
    [PS_OK] = "ok",           [PS_SUSPECT] = "suspect", [PS_UNSUPPORTED] = "unsupported",
    [PS_SKIPPED] = "skipped", [PS_DENIED] = "denied",   [PS_UNSAFE] = "unsafe",
    [PS_FAILED] = "failed",   [PS_TIMEOUT] = "timeout", [PS_ABORTED] = "aborted",
};

/* By bit number: in the order of enum ps_quality. */
static const char *const quality_names[PS_N_QUALITY] = {
    "noisy",
    "bimodal",
    "drifting",
    "clock-changed",
    "throttled",
    "preempted",
    "emulated",
    "cache-resident",
    "below-resolution",
    "low-confidence",
    "precision-not-reached",
};

const char *ps_status_name(enum ps_status status) {
    PS_ASSERT((unsigned)status < PS_N_STATUS);
    return status_names[status];
}

const char *ps_quality_name(unsigned bit) {
    PS_ASSERT(bit < PS_N_QUALITY);
    return quality_names[bit];
}

int ps_status_from_name(const char *name, enum ps_status *ret_status) {
    for (unsigned i = 0; i < PS_N_STATUS; i++) {
        if (ps_text_equal(name, status_names[i])) {
            *ret_status = (enum ps_status)i;
            return 0;
        }
    }
    return -PS_EINVAL;
}

int ps_quality_from_name(const char *name, unsigned *ret_bit) {
    for (unsigned i = 0; i < PS_N_QUALITY; i++) {
        if (ps_text_equal(name, quality_names[i])) {
            *ret_bit = i;
            return 0;
        }
    }
    return -PS_EINVAL;
}
