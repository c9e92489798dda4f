/* SPDX-License-Identifier: MIT
 *
 * perfsheet on a microcontroller: every table of scope CORE, measured by the same core as on Linux,
 * as JSON lines in frames on the serial line. `perfsheet ingest` turns them into a sheet.
 *
 * A run is a re-initialised arena; there are three of each case, in rounds over all cases, so that
 * a drift does not become a difference between rows. Results are not made here. Nothing is
 * allocated: a case list has one place, and a case is dealt with when the next one is asked for.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/registry.h"
#include "board.h"
#include "core/case_list.h"
#include "core/errors.h"
#include "core/frame.h"
#include "core/json_writer.h"
#include "core/measure.h"
#include "core/record.h"
#include "port/port_counter.h"

#define ROUNDS 3
#define ID_MAX (3 * PS_NAME_MAX)
/* No single pass over a microcontroller's memory lasts half as long; 32 bits at 1 GHz are enough.
 */
#define WRAP_NS_MIN UINT64_C(4000000000)

int main(void);

struct program {
    const struct ps_board *board;
    struct ps_port_counter port;
    const char *port_error; /* why nothing can be timed; NULL: it can */
    struct ps_cluster cluster;
    struct ps_env env;
    struct ps_frame_sender sender;
    struct ps_json_writer json;
    unsigned round; /* 0: cases are declared; 1 .. ROUNDS: measured */
    unsigned n_cases, n_runs;
    struct ps_run_shared shared;
};

/* The list that cases() fills, with one place. */
struct walk {
    struct ps_case_list list; /* first: grow() gets it */
    struct ps_case place;
    struct program *program;
    const struct ps_bench *bench;
};

/* ---- Output --------------------------------------------------------------------------------- */

static int put_frame(void *target, const char *frame, size_t length) {
    const struct ps_board *board = target;
    for (size_t i = 0; i < length; i++)
        board->put(board->self, frame[i]);
    if (board->kick)
        board->kick(board->self);
    return 0;
}

static void write_sheet(struct program *program) {
    struct ps_json_writer *json = &program->json;
    const struct ps_board *board = program->board;
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "sheet");
    ps_json_pair_i64(json, "format", 1);
    ps_json_pair_string(json, "id", PS_SHEET_ID);
    ps_json_pair_string(json, "started", NULL); /* no calendar here */
    ps_json_key(json, "board");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "id", board->name);
    ps_json_pair_string(json, "model", board->model);
    ps_json_object_end(json);
    ps_json_key(json, "tool");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "version", PS_VERSION);
    ps_json_pair_string(json, "commit", PS_COMMIT);
    ps_json_pair_string(json, "compiler", PS_COMPILER);
    ps_json_pair_string(json, "flags", PS_FLAGS);
    ps_json_pair_string(json, "libc", "own");
    ps_json_pair_string(json, "arch", board->core);
    ps_json_object_end(json);
    ps_json_key(json, "env");
    ps_json_object_begin(json);
    ps_json_pair_u64(json, "memory_available_bytes", board->arena_bytes);
    ps_json_key(json, "clock");
    ps_json_object_begin(json);
    ps_json_pair_u64(json, "resolution_ns", program->port.port.resolution_ns);
    ps_json_pair_u64(json, "read_ns", program->port.port.read_ns);
    ps_json_pair_string(json, "source", "counter");
    ps_json_object_end(json);
    ps_json_pair_bool(json, "emulated", board->emulated);
    ps_json_object_end(json);
    ps_json_object_end(json);
    ps_json_line_end(json);
}

static void write_source(struct program *program) {
    struct ps_json_writer *json = &program->json;
    const struct ps_board *board = program->board;
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "source");
    ps_json_pair_string(json, "id", board->source);
    ps_json_pair_string(json, "kind", "mcu");
    ps_json_pair_string(json, "core", board->core);
    ps_json_pair_u64(json, "hz", board->core_hz); /* what cycles are counted by */
    ps_json_pair_u64(json, "counter_hz", board->counter_hz);
    ps_json_pair_u64(json, "counter_bits", board->counter_bits);
    ps_json_key(json, "build");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "compiler", PS_COMPILER);
    ps_json_pair_string(json, "flags", PS_FLAGS);
    ps_json_pair_string(json, "libc", "own");
    ps_json_object_end(json);
    ps_json_key(json, "placement");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "code", board->code_in);
    ps_json_pair_string(json, "data", board->data_in);
    ps_json_pair_string(json, "stack", board->stack_in);
    ps_json_pair_string(json, "arena", board->arena_in);
    ps_json_pair_string(json, "caches", board->caches);
    ps_json_object_end(json);
    ps_json_pair_u64(json, "usable_cpus", 1);
    ps_json_key(json, "reference_mhz");
    ps_json_object_begin(json);
    ps_json_pair_double(json, "0", (double)board->core_hz / 1e6, 9);
    ps_json_object_end(json);
    ps_json_pair_bool(json, "emulated", board->emulated);
    ps_json_object_end(json);
    ps_json_line_end(json);
}

/* Not a record of the sheet: tells the receiver that nothing more comes. */
static void write_finish(struct program *program) {
    struct ps_json_writer *json = &program->json;
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "finish");
    ps_json_pair_u64(json, "cases", program->n_cases);
    ps_json_pair_u64(json, "runs", program->n_runs);
    ps_json_object_end(json);
    ps_json_line_end(json);
}

/* ---- A case --------------------------------------------------------------------------------- */

static void make_id(const struct ps_bench *bench, const struct ps_case *c, char *id) {
    struct ps_text text;
    ps_text_init(&text, id, ID_MAX);
    ps_text_add(&text, bench->chapter);
    ps_text_add_char(&text, '.');
    ps_text_add(&text, bench->table);
    ps_text_add_char(&text, '/');
    ps_text_add(&text, c->name);
}

/* Same case, same round, same inputs: the records of an emulated board repeat to the bit. */
static uint64_t seed_of(const char *id, unsigned round) {
    size_t length = 0;
    while (id[length] != '\0')
        length++;
    uint32_t hash = ps_crc32(round, id, length);
    return (uint64_t)hash << 32 | ps_crc32(hash, id, length);
}

/* Can this core do it at all? */
static enum ps_status fits(struct program *program, const struct ps_bench *bench,
                           const struct ps_case *c, const struct ps_measure_settings *settings,
                           char *why, size_t why_bytes, const char **ret_reason) {
    /* As ps_measure asks for it; its block and ours may each need padding. */
    uint64_t alignment = c->memory.alignment_bytes > 0 ? c->memory.alignment_bytes : 4096;
    uint64_t needed = c->memory.bytes + PS_ARENA_SLACK_BYTES + 2 * alignment +
                      ps_measure_scratch_bytes(bench, settings);
    struct ps_text text;
    *ret_reason = why;
    ps_text_init(&text, why, why_bytes);
    if (c->status != PS_OK) {
        *ret_reason = c->reason;
        return c->status;
    }
    if (program->port_error) {
        *ret_reason = program->port_error;
        return PS_UNSUPPORTED;
    }
    if (c->place.threads > 1 || c->place.pairing != PS_PAIR_NONE || c->place.target ||
        c->memory.pages == PS_PAGES_HUGE) {
        *ret_reason = "One core without an operating system has no threads, files or pages.";
        return PS_UNSUPPORTED;
    }
    if (needed > program->board->arena_bytes) {
        ps_text_add(&text, "Needs ");
        ps_text_add_u64(&text, needed);
        ps_text_add(&text, " bytes of memory; the board's arena has ");
        ps_text_add_u64(&text, program->board->arena_bytes);
        ps_text_add_char(&text, '.');
        return PS_SKIPPED;
    }
    return PS_OK;
}

static void measure(struct program *program, const struct ps_bench *bench, const struct ps_case *c,
                    const char *id, const struct ps_measure_settings *settings) {
    static const int cpu = 0;
    struct ps_measure_settings seeded = *settings;
    seeded.seed = seed_of(id, program->round);
    struct ps_run_shared *shared = &program->shared;
    *shared = (struct ps_run_shared){
        .bench = bench, .c = c, .port = &program->port.port, .cpus = &cpu, .n_cpus = 1};
    struct ps_run_identity identity = {
        .id = id,
        .source = program->board->source,
        .round = program->round,
        .seq = program->n_runs++,
        .attempt = 1,
        .start_s = (double)shared->port->now_ns(shared->port->self) / 1e9,
        .load_all_pct = -1,
        .load_busiest_pct = -1,
    };
    struct ps_arena *arena = ps_port_counter_begin(&program->port);
    uint64_t scratch_bytes = ps_measure_scratch_bytes(bench, &seeded);
    void *scratch = ps_arena_alloc(arena, scratch_bytes, 0);
    (void)ps_measure(shared, &seeded, scratch, scratch_bytes); /* the outcome is in the record */
    ps_record_run(&program->json, &identity, shared, NULL);
    ps_json_line_end(&program->json);
}

static void take_case(struct walk *walk, struct ps_case *c) {
    struct program *program = walk->program;
    const struct ps_bench *bench = walk->bench;
    char id[ID_MAX], why[2 * PS_NAME_MAX];
    const char *reason;
    struct ps_measure_settings settings;
    make_id(bench, c, id);
    c->place.cluster = 0;
    if (program->board->emulated)
        c->quality |= PS_Q_EMULATED;
    enum ps_bound bound = ps_case_bound(c, program->cluster.last_private_bytes);
    ps_measure_defaults(&settings, bench, c, bound, false);
    enum ps_status status = fits(program, bench, c, &settings, why, sizeof(why), &reason);
    if (program->round == 0) {
        program->n_cases++;
        ps_record_case(&program->json, bench, c, id, program->board->source, bound,
                       status == PS_OK ? ROUNDS : 0, status, status == PS_OK ? NULL : reason);
        ps_json_line_end(&program->json);
    } else if (status == PS_OK) {
        measure(program, bench, c, id, &settings);
    }
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* cases() wants another: what is in the one place is complete. */
static int take_and_empty(struct ps_case_list *list) {
    struct walk *walk = (struct walk *)list;
    if (list->n == 1)
        take_case(walk, &walk->place);
    list->n = 0;
    return 0;
}

static void walk_table(struct program *program, const struct ps_bench *bench) {
    static struct walk walk;
    const char *why = NULL;
    walk = (struct walk){.list = {.cases = &walk.place, .capacity = 1, .grow = take_and_empty},
                         .program = program,
                         .bench = bench};
    if (program->round == 0) {
        ps_record_table(&program->json, bench);
        ps_json_line_end(&program->json);
    }
    if (bench->probe && bench->probe(&program->env, &why) != PS_OK)
        return; /* a table of scope CORE that needs what is not here has no rows here */
    if (bench->cases(&program->env, &walk.list) == 0)
        take_and_empty(&walk.list);
}

static void init(struct program *program) {
    const struct ps_board *board = program->board;
    const struct ps_port_counter_board counter = {
        .read = board->counter,
        .self = board->self,
        .bits = board->counter_bits,
        .hz = board->counter_hz,
        .kick = board->kick,
        .memory = board->arena,
        .memory_bytes = board->arena_bytes,
    };
    int err = ps_port_counter_init(&program->port, &counter);
    if (err == -PS_EIO)
        program->port_error = "The board's counter stands still: nothing can be timed.";
    else if (err < 0)
        program->port_error = "The board's counter has an impossible width or rate.";
    else if (ps_port_counter_wrap_ns(&program->port) < WRAP_NS_MIN)
        program->port_error = "The board's counter wraps too soon: its file must widen it.";
    program->cluster = (struct ps_cluster){
        .n_cpus = 1,
        .max_khz = board->core_hz / 1000,
        .l1d_bytes = board->l1d_bytes,
        .last_private_bytes = board->l1d_bytes,
        .last_level_bytes = board->l1d_bytes,
        .line_bytes = board->line_bytes,
    };
    program->env = (struct ps_env){
        .cluster = &program->cluster,
        .clusters = &program->cluster,
        .n_clusters = 1,
        .n_cpus = 1,
        .memory_available_bytes = board->arena_bytes,
        .working_set_cap_bytes = board->arena_bytes,
        .published_cap_bytes = board->arena_bytes / 2,
    };
    ps_frame_sender_init(&program->sender, put_frame, (void *)(uintptr_t)board,
                         board->frame_copies);
    ps_json_init(&program->json, ps_frame_sender_write, &program->sender);
}

int main(void) {
    static struct program program;
    program.board = ps_board_init();
    init(&program);
    write_sheet(&program);
    write_source(&program);
    const struct ps_registry *registry = ps_registry();
    for (program.round = 0; program.round <= ROUNDS; program.round++)
        for (size_t i = 0; i < registry->n; i++)
            walk_table(&program, registry->benches[i]);
    write_finish(&program);
    return program.port_error ? 1 : 0;
}
