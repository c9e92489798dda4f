/* SPDX-License-Identifier: MIT
 *
 * Between the files that turn records into a sheet.
 */
#ifndef PS_SHEET_SHEET_BUILD_H
#define PS_SHEET_SHEET_BUILD_H

#include "sheet/memory_pool.h"
#include "sheet/sheet.h"

/* What sheet->memory points to: the pool of everything that does not grow, and how many the growing
 * arrays (which are on the heap) have room for. */
struct ps_sheet_memory {
    struct ps_memory_pool pool;
    size_t cases_max, runs_max, sources_max, tables_max;
};

struct ps_sheet *ps_sheet_new(void);

/* Room for one more in *array, of `n` of *n_max elements; the new one is zeroed. NULL on shortage.
 */
void *ps_sheet_grow(void **array, size_t n, size_t *n_max, size_t element_bytes);

/* A deep copy that lives as long as the sheet; NULL also for NULL. */
const struct ps_json *ps_sheet_copy_json(struct ps_sheet *sheet, const struct ps_json *value);

/* Each takes one record: 0, -EINVAL with *ret_what (a sentence's beginning, in what[]), or -ENOMEM.
 */
int ps_sheet_take_source(struct ps_sheet *sheet, const struct ps_json *record,
                         const char **ret_what);
int ps_sheet_take_table(struct ps_sheet *sheet, const struct ps_json *record,
                        const char **ret_what);
int ps_sheet_take_case(struct ps_sheet *sheet, const struct ps_json *record, const char **ret_what);
int ps_sheet_take_run(struct ps_sheet *sheet, const struct ps_json *record, const char **ret_what);

/* Index of the word under `key` among the `n` names; `missing` when it is absent or null, n when it
 * is not one of them. */
unsigned ps_sheet_word(const struct ps_json *object, const char *key, const char *(*name)(unsigned),
                       unsigned n, unsigned missing);
/* Bits of the list of quality marks under "quality"; false when one is unknown. */
bool ps_sheet_quality(const struct ps_json *object, uint32_t *ret_quality);
/* Like ps_json_get_string, copied into the sheet. False on memory shortage. */
bool ps_sheet_take_string(struct ps_sheet *sheet, const struct ps_json *object, const char *key,
                          const char **ret_string);
/* An unsigned number, 0 when it is absent or does not fit. */
unsigned ps_sheet_unsigned(const struct ps_json *object, const char *key);

#endif
