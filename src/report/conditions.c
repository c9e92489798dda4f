/* SPDX-License-Identifier: MIT
 *
 * The conditions block: what a reader must know of the machine and the measurement to believe a
 * number, taken from the sheet alone.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "report/cells.h"
#include "report/page.h"

#define LINE_MAX_BYTES 512

struct block {
    void (*line)(void *, const char *, const char *);
    void *context;
    char data[LINE_MAX_BYTES];
    struct ps_text text;
};

static void begin(struct block *block) {
    ps_text_init(&block->text, block->data, sizeof(block->data));
}

static void add(struct block *block, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct block *block, const char *format, ...) {
    char part[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(part, sizeof(part), format, arguments);
    va_end(arguments);
    ps_text_add(&block->text, part);
}

static void end(struct block *block, const char *label) {
    if (block->text.length > 0)
        block->line(block->context, label, block->data);
}

/* ", " unless it is the first thing in its line. */
static void add_comma(struct block *block) {
    if (block->text.length > 0)
        add(block, ", ");
}

static void add_bytes(struct block *block, const char *before, double bytes, const char *after) {
    char text[PS_CELL_MAX];
    if (!(bytes > 0))
        return;
    ps_cell_bytes(bytes, text, sizeof(text));
    add_comma(block);
    add(block, "%s%s%s", before, text, after);
}

static void board_lines(struct block *block, const struct ps_json *header,
                        const struct ps_json *env) {
    const struct ps_json *board = ps_json_get(header, "board");
    const struct ps_json *tool = ps_json_get(header, "tool");
    const char *id = ps_json_get_string(board, "id", NULL);
    const char *revision = ps_json_get_string(board, "revision", NULL);
    const char *libc = ps_json_get_string(tool, "libc", NULL);
    const char *hostname = ps_json_get_string(env, "hostname", NULL);
    begin(block);
    add(block, "%s", ps_json_get_string(board, "model", "unknown"));
    if (id)
        add(block, ", %s", id);
    if (revision)
        add(block, ", revision %s", revision);
    if (hostname)
        add(block, " (%s)", hostname);
    if (ps_json_get_bool(env, "emulated", false))
        add(block, ", EMULATED");
    end(block, "board");
    const char *kernel = ps_json_get_string(env, "kernel", NULL);
    begin(block);
    if (kernel)
        add(block, "%s%s%s", kernel, libc ? ", " : "", libc ? libc : "");
    end(block, "kernel");
}

static void cpu_line(struct block *block, const struct ps_json *env) {
    const struct ps_json *cpus = ps_json_get(env, "cpus");
    double quota = ps_json_get_double(cpus, "quota", NAN);
    const char *isolated = ps_json_get_string(cpus, "isolated", "");
    if (!cpus)
        return;
    begin(block);
    add(block, "%s usable of %s online", ps_json_get_string(cpus, "usable", "?"),
        ps_json_get_string(cpus, "online", "?"));
    if (*isolated)
        add(block, ", isolated %s", isolated);
    if (isfinite(quota))
        add(block, ", quota %.3g", quota);
    add(block, ", %lld threads", (long long)ps_json_get_i64(cpus, "threads", 1));
    end(block, "cpus");
}

static void add_mhz(struct block *block, double mhz, const char *word) {
    if (isfinite(mhz))
        add(block, " %.0f MHz %s,", mhz, word);
    else
        add(block, " none %s,", word);
}

static void cluster_lines(struct block *block, const struct ps_json *env) {
    const struct ps_json *clusters = ps_json_get(env, "clusters");
    if (!clusters || clusters->type != PS_JSON_ARRAY)
        return;
    for (const struct ps_json *cluster = clusters->u.first; cluster; cluster = cluster->next) {
        double reference = ps_json_get_double(cluster, "reference_mhz", NAN);
        begin(block);
        add(block, "cluster %lld (cpu %s):", (long long)ps_json_get_i64(cluster, "id", 0),
            ps_json_get_string(cluster, "cpus", "?"));
        add_mhz(block, ps_json_get_double(cluster, "measured_mhz", NAN), "measured");
        add_mhz(block, ps_json_get_double(cluster, "reported_mhz", NAN), "reported");
        add(block, " governor %s", ps_json_get_string(cluster, "governor", "none"));
        end(block, "clock");
        begin(block);
        if (isfinite(reference))
            add(block, "cluster %lld: %.0f MHz, from %s",
                (long long)ps_json_get_i64(cluster, "id", 0), reference,
                ps_json_get_string(cluster, "reference_from", "the sheet"));
        end(block, "reference");
        begin(block);
        double last_level = ps_json_get_double(cluster, "last_level_bytes", NAN);
        add_bytes(block, "L1d ", ps_json_get_double(cluster, "l1d_bytes", NAN), "");
        add_bytes(block, "L2 ", ps_json_get_double(cluster, "l2_bytes", NAN), "");
        add_bytes(block, "last level ", last_level, " in all");
        /* Rows named by a cache are missing then: the page says why. */
        if (!(last_level > 0)) {
            add_comma(block);
            add(block, "last level unknown");
        }
        end(block, "caches");
    }
}

static void memory_line(struct block *block, const struct ps_json *header,
                        const struct ps_json *env) {
    double total = ps_json_get_double(env, "memory_total_bytes", NAN);
    int64_t mts = ps_json_get_i64(ps_json_get(header, "board"), "memory_mts", 0);
    const char *thp = ps_json_get_string(env, "thp", NULL);
    begin(block);
    add_bytes(block, "", total, "");
    if (mts > 0)
        add(block, " at %lld MT/s", (long long)mts);
    add_bytes(block, "", ps_json_get_double(env, "memory_available_bytes", NAN), " available");
    add_bytes(block, "pages ", ps_json_get_double(env, "page_bytes", NAN), "");
    add_bytes(block, "huge pages ", ps_json_get_double(env, "huge_page_bytes", NAN), "");
    if (thp)
        add(block, " (%s)", thp);
    end(block, "memory");
}

static void add_count(struct block *block, const struct ps_json *object, const char *key,
                      const char *before, const char *after) {
    int64_t value = ps_json_get_i64(object, key, -1);
    if (value < 0)
        return;
    add_comma(block);
    add(block, "%s%lld%s", before, (long long)value, after);
}

static void add_verdict(struct block *block, const struct ps_json *object, const char *key,
                        const char *yes, const char *no) {
    const struct ps_json *value = ps_json_get(object, key);
    if (!value || value->type != PS_JSON_BOOL)
        return;
    add_comma(block);
    add(block, "%s", value->u.boolean ? yes : no);
}

static void timer_line(struct block *block, const struct ps_json *env) {
    const struct ps_json *clock = ps_json_get(env, "clock");
    const char *source = ps_json_get_string(clock, "source", NULL);
    begin(block);
    if (source)
        add(block, "%s", source);
    add_count(block, clock, "resolution_ns", "step ", " ns");
    add_count(block, clock, "read_ns", "read in ", " ns");
    add_verdict(block, clock, "monotone", "monotone", "NOT MONOTONE");
    add_verdict(block, clock, "chains_agree", "cycle loops agree", "cycle loops disagree");
    end(block, "timer");
}

static void measurement_lines(struct block *block, const struct ps_sheet *sheet,
                              const struct ps_json *env) {
    const struct ps_json *tool = ps_json_get(sheet->header, "tool");
    const struct ps_json *plan = ps_json_get(sheet->header, "plan");
    double load = ps_json_get_double(env, "load_average", NAN);
    begin(block);
    if (sheet->started)
        add(block, "%s", sheet->started);
    if (isfinite(load)) {
        add_comma(block);
        add(block, "load average %.2f", load);
    }
    end(block, "when");
    begin(block);
    add(block, "perfsheet %s (%s), %s %s", ps_json_get_string(tool, "version", "?"),
        ps_json_get_string(tool, "commit", "?"), ps_json_get_string(tool, "compiler", "?"),
        ps_json_get_string(tool, "flags", ""));
    while (block->text.length > 0 && block->data[block->text.length - 1] == ' ')
        block->data[--block->text.length] = 0;
    end(block, "tool");
    begin(block);
    if (plan)
        add(block, "%s, %s", ps_json_get_string(plan, "hash", "?"),
            ps_json_get_string(plan, "depth", "?"));
    end(block, "plan");
}

static void source_lines(struct block *block, const struct ps_sheet *sheet) {
    for (size_t i = 0; i < sheet->n_sources; i++) {
        const struct ps_sheet_source *source = &sheet->sources[i];
        /* One Linux alone is what all of the above is about. */
        if (sheet->n_sources == 1 && source->kind && strcmp(source->kind, "linux") == 0)
            continue;
        const char *core = ps_json_get_string(source->json, "core", NULL);
        begin(block);
        char label[160];
        ps_page_source_label(sheet, source->id, source->sheet, label, sizeof(label));
        add(block, "%s: %s", label, source->kind ? source->kind : "?");
        if (core)
            add(block, ", %s", core);
        if (source->kind && strcmp(source->kind, "mcu") == 0 && isfinite(source->hz))
            add(block, ", %.6g MHz", source->hz / 1e6);
        if (ps_json_get_bool(source->json, "emulated", false))
            add(block, ", EMULATED");
        end(block, "source");
    }
}

void ps_page_conditions(const struct ps_sheet *sheet,
                        void (*line)(void *, const char *, const char *), void *context) {
    struct block block = {.line = line, .context = context};
    const struct ps_json *env = ps_json_get(sheet->header, "env");
    const struct ps_json *notes = ps_json_get(env, "notes");
    if (sheet->header) {
        board_lines(&block, sheet->header, env);
        cpu_line(&block, env);
        cluster_lines(&block, env);
        memory_line(&block, sheet->header, env);
        timer_line(&block, env);
        measurement_lines(&block, sheet, env);
    }
    source_lines(&block, sheet);
    for (const struct ps_json *note = notes && notes->type == PS_JSON_ARRAY ? notes->u.first : NULL;
         note; note = note->next)
        if (note->type == PS_JSON_STRING)
            line(context, "note", note->u.string);
    if (sheet->n_repeated > 0) {
        begin(&block);
        add(&block, "%zu runs were in two of the sheets and count once", sheet->n_repeated);
        end(&block, "note");
    }
}

bool ps_page_cut_off(const struct ps_sheet *sheet, char *text, size_t size_bytes) {
    if (!sheet->incomplete && !sheet->truncated)
        return false;
    snprintf(text, size_bytes, "this sheet was cut off: rebuilt from %zu run%s", sheet->n_runs,
             sheet->n_runs == 1 ? "" : "s");
    return true;
}

/* A word of a command line for a POSIX shell. */
static void add_quoted(struct ps_text *out, const char *word) {
    if (*word &&
        !word[strspn(word,
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-/@=:,%")]) {
        ps_text_add(out, word);
        return;
    }
    ps_text_add_char(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            ps_text_add(out, "'\\''");
        else
            ps_text_add_char(out, *word);
    ps_text_add_char(out, '\'');
}

void ps_page_replay(const struct ps_sheet *sheet, char *text, size_t size_bytes) {
    ps_page_replay_by(sheet, NULL, text, size_bytes);
}

void ps_page_replay_by(const struct ps_sheet *sheet, const char *program, char *text,
                       size_t size_bytes) {
    const struct ps_json *args = ps_json_get(ps_json_get(sheet->header, "plan"), "args");
    struct ps_text out;
    ps_text_init(&out, text, size_bytes);
    if (!args || args->type != PS_JSON_ARRAY)
        return;
    add_quoted(&out, program && *program ? program : "perfsheet");
    ps_text_add(&out, " run");
    for (const struct ps_json *word = args->u.first; word; word = word->next)
        if (word->type == PS_JSON_STRING) {
            ps_text_add_char(&out, ' ');
            add_quoted(&out, word->u.string);
        }
}
