/* SPDX-License-Identifier: MIT
 *
 * Cells. Numbers are set by core/text, so they have a '.' whatever the locale.
 */
#include "report/cells.h"

#include <math.h>
#include <string.h>

#include "core/text.h"

#define DECIMALS_MOST 12 /* a picosecond in seconds; what is smaller has a wrong unit */

bool ps_cell_has_number(const struct ps_result *result) {
    return (result->status == PS_OK || result->status == PS_SUSPECT) && isfinite(result->value);
}

/* A value above zero is not printed as 0: one digit of it is always shown. */
static unsigned decimals_for(double value, unsigned decimals) {
    double size = fabs(value);
    while (size > 0 && decimals < DECIMALS_MOST && size * pow(10, decimals) < 1)
        decimals++;
    return decimals;
}

void ps_cell_number(double value, unsigned decimals, char *text, size_t size_bytes) {
    struct ps_text out;
    ps_text_init(&out, text, size_bytes);
    if (isfinite(value))
        ps_text_add_fixed(&out, value, decimals_for(value, decimals));
    else
        ps_text_add(&out, "-");
}

void ps_cell_value(const struct ps_result *result, char *text, size_t size_bytes) {
    struct ps_text out;
    char number[PS_CELL_MAX];
    ps_text_init(&out, text, size_bytes);
    if (!ps_cell_has_number(result)) {
        ps_text_add(&out, result->status == PS_OK ? "-" : ps_status_name(result->status));
        return;
    }
    if (result->quality & PS_Q_BELOW_RESOLUTION)
        ps_text_add(&out, "< ");
    ps_cell_number(result->value, result->metric->decimals, number, sizeof(number));
    ps_text_add(&out, number);
}

void ps_cell_range(const struct ps_result *result, char *text, size_t size_bytes) {
    struct ps_text out;
    char value[PS_CELL_MAX], low[PS_CELL_MAX], high[PS_CELL_MAX];
    ps_text_init(&out, text, size_bytes);
    if (!ps_cell_has_number(result) || (result->quality & PS_Q_BELOW_RESOLUTION) ||
        !isfinite(result->min) || !isfinite(result->max))
        return;
    unsigned decimals = decimals_for(result->value, result->metric->decimals);
    ps_cell_number(result->value, decimals, value, sizeof(value));
    ps_cell_number(result->min, decimals, low, sizeof(low));
    ps_cell_number(result->max, decimals, high, sizeof(high));
    if (strcmp(low, value) == 0 && strcmp(high, value) == 0)
        return;
    ps_text_add(&out, "(min ");
    ps_text_add(&out, low);
    ps_text_add(&out, ", max ");
    ps_text_add(&out, high);
    ps_text_add(&out, ")");
}

void ps_cell(const struct ps_result *result, char *text, size_t size_bytes) {
    struct ps_text out;
    char part[3 * PS_CELL_MAX];
    ps_text_init(&out, text, size_bytes);
    ps_cell_value(result, part, sizeof(part));
    ps_text_add(&out, part);
    ps_cell_range(result, part, sizeof(part));
    if (*part)
        ps_text_add_char(&out, ' ');
    ps_text_add(&out, part);
}

void ps_cell_spread(const struct ps_result *result, char *text, size_t size_bytes) {
    struct ps_text out;
    ps_text_init(&out, text, size_bytes);
    double percent = fabs(50 * (result->ci95[1] - result->ci95[0]) / result->value);
    if (!ps_cell_has_number(result) || (result->quality & PS_Q_BELOW_RESOLUTION) ||
        !isfinite(percent))
        ps_text_add(&out, "-");
    else if (percent > 999) /* nothing is known of it, and no digit helps */
        ps_text_add(&out, ">999");
    else
        ps_text_add_fixed(&out, percent, percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0);
}

void ps_cell_runs(const struct ps_result *result, char *text, size_t size_bytes) {
    struct ps_text out;
    ps_text_init(&out, text, size_bytes);
    ps_text_add_u64(&out, result->n_runs);
    if (result->n_disturbed > 0) {
        ps_text_add_char(&out, '+');
        ps_text_add_u64(&out, result->n_disturbed);
    }
}

void ps_cell_marks(const struct ps_result *result, char *text, size_t size_bytes) {
    struct ps_text out;
    ps_text_init(&out, text, size_bytes);
    if (result->status == PS_SUSPECT)
        ps_text_add(&out, "suspect");
    for (unsigned bit = 0; bit < PS_N_QUALITY; bit++) {
        /* The '<' of the value says it. */
        if (!(result->quality & (1u << bit)) || (1u << bit) == PS_Q_BELOW_RESOLUTION)
            continue;
        if (out.length > 0)
            ps_text_add(&out, ", ");
        ps_text_add(&out, ps_quality_name(bit));
    }
}

/* In the order of enum ps_quality; the '<' of an upper bound stands before its value. */
static const char letters[PS_N_QUALITY + 1] = "NBDCTPER<LW";

void ps_cell_letters(const struct ps_result *result, char *text, size_t size_bytes) {
    struct ps_text out;
    ps_text_init(&out, text, size_bytes);
    uint32_t quality = result->quality & ~(uint32_t)PS_Q_BELOW_RESOLUTION;
    if (result->status == PS_SUSPECT)
        ps_text_add(&out, quality ? "SUSPECT " : "SUSPECT");
    for (unsigned bit = 0; bit < PS_N_QUALITY; bit++)
        if (quality & (1u << bit))
            ps_text_add_char(&out, letters[bit]);
}

void ps_cell_legend(uint32_t quality, char *text, size_t size_bytes) {
    struct ps_text out;
    ps_text_init(&out, text, size_bytes);
    for (unsigned bit = 0; bit < PS_N_QUALITY; bit++) {
        if (!(quality & (1u << bit)) || (1u << bit) == PS_Q_BELOW_RESOLUTION)
            continue;
        if (out.length > 0)
            ps_text_add(&out, ", ");
        ps_text_add_char(&out, letters[bit]);
        ps_text_add_char(&out, '=');
        ps_text_add(&out, ps_quality_name(bit));
    }
}

const char *ps_cell_meaning(unsigned bit) {
    static const char *const meanings[PS_N_QUALITY] = {
        "the run values vary by more than 5 %",
        "the samples fall into two groups, whose centres are given",
        "the run values rise or fall with time",
        "the clock moved by more than 3 % inside the runs",
        "the CPU was throttled, or its clock fell by over 10 % and stayed down",
        "over half of the runs were disturbed, or fewer than three were not",
        "measured under an emulator: not a property of any hardware",
        "the working set is smaller than four times the last cache; its size is given",
        "too fast to tell from nothing: the value is an upper bound, written <",
        "too few ticks or events are behind it",
        "the interval reaches over 5 % to either side, or there are too few runs for one",
    };
    return bit < PS_N_QUALITY ? meanings[bit] : "";
}

void ps_cell_name(const struct ps_result *result, bool metric, char *text, size_t size_bytes) {
    struct ps_text out;
    const char *id = metric ? result->id : result->c->id;
    size_t table = strlen(result->c->table);
    if (strncmp(id, result->c->table, table) == 0 && id[table] == '/')
        id += table + 1;
    ps_text_init(&out, text, size_bytes);
    ps_text_add(&out, id);
    /* A row's name says what was wished; a set that was capped is another on every plan. */
    double bytes = ps_json_get_double(result->c->params, "size_bytes",
                                      ps_json_get_double(result->c->params, "bytes", NAN));
    if ((result->quality & PS_Q_CACHE_RESIDENT) && bytes > 0) {
        char size[PS_CELL_MAX];
        ps_cell_bytes(bytes, size, sizeof(size));
        ps_text_add(&out, " (");
        ps_text_add(&out, size);
        ps_text_add(&out, ")");
    }
}

void ps_cell_bytes(double bytes, char *text, size_t size_bytes) {
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    struct ps_text out;
    size_t unit = 0;
    ps_text_init(&out, text, size_bytes);
    if (!isfinite(bytes) || bytes < 0) {
        ps_text_add(&out, "unknown");
        return;
    }
    while (bytes >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1024;
        unit++;
    }
    ps_text_add_fixed(&out, bytes, floor(bytes) < bytes && bytes < 100 ? 1 : 0);
    ps_text_add(&out, units[unit]);
}
