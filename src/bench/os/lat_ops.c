/* SPDX-License-Identifier: MIT
 *
 * Arithmetic: how long an operation takes before the next one can use its result, and how long it
 * keeps the core when others do not wait for it.
 *
 * Operands are of half the type's width, so quotients are too; dividers that end early take less
 * for smaller ones. The remainder's chain needs an addition to stay up, which is timed by itself
 * and subtracted.
 */
#include "core/bench.h"
#include "core/errors.h"
#include "kernels/int_fp_ops.h"

#define VERIFY_TURNS 3

enum segment { LATENCY, THROUGHPUT };

union values {
    uint32_t i[PSK_OPS_CHAINS];
    uint64_t l[PSK_OPS_CHAINS];
    float f[PSK_OPS_CHAINS];
    double d[PSK_OPS_CHAINS];
};

struct state {
    const struct psk_ops *ops, *lift; /* lift: what is subtracted, or NULL */
    union values start, k;
};

static const struct psk_ops *find_ops(const char *name) {
    for (size_t i = 0; i < PSK_OPS_COUNT; i++)
        if (ps_text_equal(psk_ops[i].name, name))
            return &psk_ops[i];
    return NULL;
}

static bool ends_with(const char *name, const char *what) {
    size_t n = 0, m = 0;
    while (name[n] != '\0')
        n++;
    while (what[m] != '\0')
        m++;
    return n >= m && ps_text_equal(name + n - m, what);
}

static bool is_mod(const struct ps_case *c) {
    return ends_with(c->name, "mod");
}

/* Where a vendor's row counts otherwise than this one, and NULL where it does not. */
static const char *difference(const char *name) {
    if (ends_with(name, "bit"))
        return "the vendor counts three operations where its compiler leaves two";
    if (ends_with(name, "int-add") || ends_with(name, "int64-add"))
        return "the vendor's compiler may make one instruction of the two additions counted";
    if (ends_with(name, "add"))
        return "the vendor's operands grow to infinity";
    if (ends_with(name, "int-mul") || ends_with(name, "int64-mul"))
        return "the vendor subtracts an estimate of other operations in its chain";
    if (ends_with(name, "mul"))
        return "the vendor's operands grow to infinity or fall below the normal range";
    return "other operands: time depends on the width of the quotient in most dividers";
}

static void relate(struct ps_case *c, const char *metric, const char *other_case,
                   const char *other_metric, enum ps_relation_type type, double tolerance,
                   const char *cause) {
    char other[2 * PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, other, sizeof(other));
    ps_text_add(&text, "os.lat_ops/");
    ps_text_add(&text, other_case);
    ps_text_add_char(&text, ':');
    ps_text_add(&text, other_metric);
    ps_case_relate(c, type, "os-10", metric, other, 1, tolerance, cause);
}

#define DISTURBED "a run was disturbed, or the compiler folded a chain"

static int ops_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    for (size_t i = 0; i < PSK_OPS_COUNT; i++) {
        const char *name = psk_ops[i].name;
        struct ps_case *c = ps_case_add(list, name);
        if (c == NULL)
            continue;
        c->bound = PS_BOUND_CORE;
        char row[PS_NAME_MAX];
        struct ps_text text;
        ps_text_init(&text, row, sizeof(row));
        ps_text_add(&text, "lat_ops-");
        ps_text_add(&text, name);
        ps_case_publish(c, "latency", "am62l", "lmbench", row,
                        ends_with(name, "bit") ? PS_COMPARABLE_NO : PS_COMPARABLE_APPROX,
                        difference(name));
        relate(c, "latency", name, "throughput", PS_ORDER_AT_LEAST, 0.05, DISTURBED);
        if (ps_text_equal(name, "int-add")) {
            c->tags |= PS_TAG_HEADLINE;
            ps_case_relate(c, PS_WHOLE_CYCLES, "os-10", "latency", "", 1, 0.03,
                           "the clock changed during the run");
        } else if (ps_text_equal(name, "int-mul") || ps_text_equal(name, "int-div") ||
                   ps_text_equal(name, "double-add")) {
            relate(c, "latency", "int-add", "latency", PS_ORDER_AT_LEAST, 0.05, DISTURBED);
        } else if (ps_text_equal(name, "double-div")) {
            relate(c, "latency", "float-div", "latency", PS_ORDER_AT_LEAST, 0.05, DISTURBED);
            relate(c, "latency", "double-mul", "latency", PS_ORDER_AT_LEAST, 0.05, DISTURBED);
        } else if (ps_text_equal(name, "float-div")) {
            relate(c, "latency", "float-mul", "latency", PS_ORDER_AT_LEAST, 0.05, DISTURBED);
        }
    }
    return 0;
}

/* Values of the middle of the type's range, each chain's its own. */
static void fill(struct state *state, uint64_t seed) {
    bool mul = ends_with(state->ops->name, "mul"), div = ends_with(state->ops->name, "div"),
         mod = ends_with(state->ops->name, "mod");
    union values *x = &state->start, *k = &state->k;
    for (unsigned j = 0; j < PSK_OPS_CHAINS; j++) {
        uint32_t small = (uint32_t)((seed >> j) & 1023);
        switch (state->ops->type) {
        case PSK_OPS_INT:
            x->i[j] = 40001 + 2 * small;
            k->i[j] = div ? 2000000011u : mod ? 30011 : 0x9e3779b1u + 2 * small;
            break;
        case PSK_OPS_INT64:
            x->l[j] = 3000000001u + 2 * small;
            k->l[j] = div   ? 9000000000000000011u
                      : mod ? 2000000011u
                            : 0x9e3779b97f4a7c15u + 2 * small;
            break;
        case PSK_OPS_FLOAT:
            x->f[j] = 1.1f + (float)small / 4096;
            k->f[j] = mul ? (j % 2 == 0 ? 1.3f : 1 / 1.3f) : div ? 1.7f : 1e-3f;
            break;
        case PSK_OPS_DOUBLE:
            x->d[j] = 1.1 + small / 4096.0;
            k->d[j] = mul ? (j % 2 == 0 ? 1.3 : 1 / 1.3) : div ? 1.7 : 1e-3;
            break;
        }
    }
}

static int ops_setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    struct state *state = ps_run_alloc(run, sizeof(*state), 16);
    if (state == NULL)
        return -PS_ENOMEM;
    state->ops = find_ops(c->name);
    if (state->ops == NULL)
        return -PS_EINVAL;
    if (is_mod(c))
        state->lift = find_ops(state->ops->type == PSK_OPS_INT ? "int-add" : "int64-add");
    fill(state, ps_run_seed(run));
    ps_run_set_state(run, state);
    return 0;
}

static int go(const struct state *state, const struct psk_ops *ops, unsigned segment, uint64_t n) {
    union values x = state->start;
    (segment == LATENCY ? ops->latency : ops->throughput)(&x, &state->k, n);
    PS_CLOBBER(&x);
    return 0;
}

static int ops_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    const struct state *state = ps_run_state(run);
    return go(state, state->ops, segment, n);
}

static int ops_baseline(struct ps_run *run, unsigned segment, uint64_t n) {
    const struct state *state = ps_run_state(run);
    return go(state, state->lift, segment, n);
}

static uint64_t ops_units(const struct ps_case *c, unsigned segment) {
    (void)c;
    (void)segment;
    return PSK_OPS_STEPS;
}

static bool same(enum psk_ops_type type, const union values *x, const union values *y, unsigned j) {
    switch (type) {
    case PSK_OPS_INT:
        return x->i[j] == y->i[j];
    case PSK_OPS_INT64:
        return x->l[j] == y->l[j];
    case PSK_OPS_FLOAT: /* in the normal range, too: subnormal operands are slow */
        return !(x->f[j] < y->f[j]) && !(x->f[j] > y->f[j]) && x->f[j] > 1e-3f && x->f[j] < 1e9f;
    case PSK_OPS_DOUBLE:
        return !(x->d[j] < y->d[j]) && !(x->d[j] > y->d[j]) && x->d[j] > 1e-3 && x->d[j] < 1e9;
    }
    return false;
}

/* Both kernels come to where as many single steps come to. */
static int ops_verify(struct ps_run *run, enum ps_verify_when when) {
    const struct state *state = ps_run_state(run);
    const struct psk_ops *ops = state->ops;
    union values chain = state->start, eight = state->start;
    (void)when;
    ops->latency(&chain, &state->k, VERIFY_TURNS);
    ops->throughput(&eight, &state->k, VERIFY_TURNS);
    for (unsigned j = 0; j < PSK_OPS_CHAINS; j++) {
        union values one = {{0}}, all = {{0}};
        switch (ops->type) {
        case PSK_OPS_INT:
        case PSK_OPS_FLOAT:
            one.i[0] = state->start.i[j];
            all.i[0] = eight.i[j];
            break;
        case PSK_OPS_INT64:
        case PSK_OPS_DOUBLE:
            one.l[0] = state->start.l[j];
            all.l[0] = eight.l[j];
            break;
        }
        union values long_one = one;
        ops->plain(&one, &state->k, VERIFY_TURNS * PSK_OPS_STEPS / PSK_OPS_CHAINS);
        ops->plain(&long_one, &state->k, VERIFY_TURNS * PSK_OPS_STEPS);
        if (!same(ops->type, &one, &all, 0) || (j == 0 && !same(ops->type, &long_one, &chain, 0)))
            return ps_run_end(run, PS_FAILED, 0,
                              "the chain's result is wrong: compiler or processor is at fault");
    }
    return 0;
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one operation that waits for the one before",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 3,
        .method = 1,
        .depends = PS_DEPENDS_COMPILER,
        .floor_cycles = 0.9, /* one, and what a sample can be off */
    },
    {
        .name = "throughput",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one operation of eight chains side by side",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 3,
        .method = 1,
        .depends = PS_DEPENDS_COMPILER,
        .floor_cycles = 0.1, /* ten at once */
    },
    {
        .name = "clock",
        .unit = PS_UNIT_MHZ,
        .kind = PS_DERIVED,
        .counts = "the core's clock while latency was timed; latency x clock / 1000 is in cycles",
        .better = PS_BETTER_NEITHER,
        .positive = true,
        .decimals = 0,
        .method = 1,
        .derivation = PS_DERIVE_CLOCK,
        .from = "latency",
    },
};

static const struct ps_segment segments[] = {{"latency", LATENCY}, {"throughput", THROUGHPUT}};

const struct ps_bench ps_bench_os_lat_ops = {
    .chapter = "os",
    .table = "lat_ops",
    .title = "Arithmetic latency and throughput",
    .about = "One operation of a chain in which each waits for the one before, and one of eight "
             "such chains side by side. int is 32 bits wide, int64 is 64; quotients are of half "
             "that width. bit is an exclusive or.",
    .region = "64 operations in a turn of the loop; for mod as many additions are subtracted",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = ops_cases,
    .setup = ops_setup,
    .batch = ops_batch,
    .baseline = ops_baseline,
    .has_baseline = is_mod,
    .segments = segments,
    .n_segments = sizeof(segments) / sizeof(segments[0]),
    .units = ops_units,
    .verify = ops_verify,
};
