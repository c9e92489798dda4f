/* SPDX-License-Identifier: MIT
 *
 * Whatever is changed on the user's machine on request is put back: on a normal end by the caller,
 * after any death of the program by a guard process, after two deaths from the journal at the next
 * start.
 */
#ifndef PS_HARNESS_GUARD_H
#define PS_HARNESS_GUARD_H

#include <stddef.h>

struct ps_guard;

/* Starts the guard process and creates the journal `journal_path` (NULL: perfsheet.journal in /run
 * for root, in $XDG_RUNTIME_DIR, or in a private directory below /tmp). 0, -EEXIST when a journal
 * is there (of a perfsheet that runs, or one that ps_journal_recover could not restore), or a
 * negative errno. */
int ps_guard_start(const char *journal_path, struct ps_guard **ret_guard);
/* Writes `value` to `path`; the old value is journalled first, synced, and told to the guard. 0 or
 * -errno (nothing changed then). */
int ps_guard_set(struct ps_guard *guard, const char *path, const char *value);
/* Restores everything in reverse order and ends the guard; failures are told through `say`. */
int ps_guard_finish(struct ps_guard *guard, void (*say)(void *, const char *), void *context);
/* At start: restores what a dead program left in the journal; `say` reports each. Returns how many
 * were restored, or -errno. A journal whose owner still lives is left alone. */
int ps_journal_recover(const char *journal_path, void (*say)(void *, const char *), void *context);

#endif
