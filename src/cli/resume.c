/* SPDX-License-Identifier: MIT
 *
 * The machine and the program that a sheet is of, against those that are here. The sheet's plan
 * has a hash of its own, which says nothing of either.
 */
#include "cli/resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_stream(void *target, const char *data, size_t length) {
    return fwrite(data, 1, length, target) == length ? 0 : -EIO;
}

/* The header that a sheet begun here would have. */
static int header_of_here(const struct ps_environment *environment,
                          struct ps_json_document **ret_document, const struct ps_json **ret_root) {
    static const struct ps_sheet_plan plan = {.hash = "", .depth = ""};
    struct ps_json_writer json;
    struct ps_json_error where;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return -ENOMEM;
    ps_json_init(&json, write_stream, stream);
    ps_environment_write_header(environment, &plan, &json);
    int error = ps_json_line_end(&json);
    if (fclose(stream) != 0 && !error)
        error = -ENOMEM;
    if (!error)
        error = ps_json_parse(text, length, ret_document, ret_root, &where);
    free(text);
    return error;
}

/* "0-3 (capacity 1024), 4-5 (capacity 400)" */
static void clusters_of(const struct ps_json *header, char *text, size_t text_bytes) {
    const struct ps_json *clusters = ps_json_get(ps_json_get(header, "env"), "clusters");
    size_t length = 0;
    text[0] = '\0';
    if (!clusters || clusters->type != PS_JSON_ARRAY)
        return;
    for (const struct ps_json *cluster = clusters->u.first; cluster; cluster = cluster->next) {
        if (length >= text_bytes)
            return;
        length += (size_t)snprintf(text + length, text_bytes - length, "%scpus %s (capacity %llu)",
                                   length ? ", " : "", ps_json_get_string(cluster, "cpus", "?"),
                                   (unsigned long long)ps_json_get_u64(cluster, "capacity", 0));
    }
}

static int refuse(const char *path, const char *what, const char *there, const char *here) {
    ps_complain("%s: its %s is '%s', here it is '%s'. A sheet can be finished only by the same "
                "program on the same machine",
                path, what, there, here);
    return PS_EXIT_USAGE;
}

static int compare(const struct ps_json *there, const struct ps_json *here, const char *path) {
    static const struct {
        const char *object, *key, *what;
        bool may_be_hidden; /* null in an anonymous sheet */
    } parts[] = {
        {"board", "model", "board model", false},
        {"env", "hostname", "host name", true},
        {"tool", "arch", "kernel architecture", false},
        {"tool", "version", "program version", false},
        {"tool", "commit", "program's commit", false},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *a = ps_json_get_string(ps_json_get(there, parts[i].object), parts[i].key, NULL);
        const char *b = ps_json_get_string(ps_json_get(here, parts[i].object), parts[i].key, NULL);
        if (parts[i].may_be_hidden && (!a || !b))
            continue;
        a = a ? a : "not known";
        b = b ? b : "not known";
        if (strcmp(a, b) != 0)
            return refuse(path, parts[i].what, a, b);
    }
    char clusters[2][1024];
    clusters_of(there, clusters[0], sizeof(clusters[0]));
    clusters_of(here, clusters[1], sizeof(clusters[1]));
    if (strcmp(clusters[0], clusters[1]) != 0)
        return refuse(path, "set of CPU clusters", clusters[0], clusters[1]);
    return PS_EXIT_OK;
}

/* On most boards the model is the board's and the core is known by its clusters; a sheet's source
 * names the core where there is no board model. */
static const char *core_of(const struct ps_sheet *done) {
    for (size_t i = 0; i < done->n_sources; i++)
        if (strcmp(done->sources[i].id, "linux") == 0)
            return ps_json_get_string(done->sources[i].json, "core", "");
    return NULL; /* cut off before it was written */
}

int ps_resume_check(const struct ps_sheet *done, const struct ps_environment *environment,
                    const char *path) {
    struct ps_json_document *document = NULL;
    const struct ps_json *here = NULL;
    int error = header_of_here(environment, &document, &here);
    if (error) {
        ps_complain("%s: %s", path, strerror(-error));
        return PS_EXIT_FAILED;
    }
    const char *core = core_of(done);
    int code = compare(done->header, here, path);
    if (!code && core && strcmp(core, environment->model) != 0)
        code = refuse(path, "CPU model", core, environment->model);
    ps_json_document_free(document);
    return code;
}
