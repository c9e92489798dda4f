/* SPDX-License-Identifier: MIT
 *
 * Is the clock held down by heat or by current, or about to be?
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/root.h"

#define NEAR_TRIP_C 5    /* a minute of load adds more than this to any board without a fan */
#define HOT_C 80         /* where no trip point says better */
#define SENSOR_C_MAX 150 /* sensors that are off say 255 and the like */

#define RASPBERRY_THROTTLED "/sys/devices/platform/soc/soc:firmware/get_throttled"

/* Calls `look` for each directory entry of /sys/class/thermal that begins so. */
static bool for_each_thermal(const struct ps_machine *machine, const char *prefix,
                             void (*look)(const struct ps_machine *, const char *name,
                                          void *context),
                             void *context) {
    char path[PS_PATH_BYTES];
    DIR *directory = ps_root_path(machine->root, "/sys/class/thermal", path, sizeof(path)) == 0
                         ? opendir(path)
                         : NULL;
    bool any = false;
    if (!directory)
        return false;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            any = true;
            look(machine, entry->d_name, context);
        }
    closedir(directory);
    return any;
}

/* ---- Throttling ------------------------------------------------------------------------------ */

struct cooling {
    char name[64], type[64];
    int64_t state;
};

/* Processor coolers lower the clock; fans and displays do not. */
static void look_at_cooler(const struct ps_machine *machine, const char *name, void *context) {
    struct cooling *worst = context;
    char path[300], type[64];
    int64_t state;
    snprintf(path, sizeof(path), "/sys/class/thermal/%.64s/type", name);
    if (ps_read_text(machine->root, path, type, sizeof(type)) <= 0 ||
        (strcmp(type, "Processor") != 0 && !strstr(type, "cpufreq") && !strstr(type, "cpu-idle")))
        return;
    snprintf(path, sizeof(path), "/sys/class/thermal/%.64s/cur_state", name);
    if (ps_read_i64(machine->root, path, &state) == 0 && state > worst->state) {
        worst->state = state;
        snprintf(worst->name, sizeof(worst->name), "%.63s", name);
        snprintf(worst->type, sizeof(worst->type), "%s", type);
    }
}

/* Events since boot of all CPUs; -1: not counted here. */
static int64_t events_since_boot(const struct ps_machine *machine) {
    int64_t sum = -1, count;
    for (int cpu = ps_cpu_set_next(&machine->topology.online, 0); cpu >= 0;
         cpu = ps_cpu_set_next(&machine->topology.online, (unsigned)cpu + 1)) {
        char path[128];
        snprintf(path, sizeof(path),
                 "/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", cpu);
        if (ps_read_i64(machine->root, path, &count) < 0)
            break;
        sum = (sum < 0 ? 0 : sum) + count;
    }
    return sum;
}

static const char spoiled[] = "every row: the clock is below what the board can do";

void ps_check_throttling(const struct ps_machine *machine, struct ps_finding *finding) {
    struct cooling worst = {.state = 0};
    char text[32];
    int64_t events = events_since_boot(machine);
    bool coolers = for_each_thermal(machine, "cooling_device", look_at_cooler, &worst);
    bool firmware = ps_read_text(machine->root, RASPBERRY_THROTTLED, text, sizeof(text)) > 0;
    /* Bits 0 to 3: supply voltage low, clock capped, throttled, near the limit; 16 to 19: the same
     * at some time since boot. */
    unsigned long bits = firmware ? strtoul(text, NULL, 16) : 0;
    ps_spoils(finding, "%s", spoiled);
    if (bits & 0xf) {
        ps_seen(finding, PS_BAD, "the firmware holds the clock down now: %s%s",
                bits & 1 ? "the supply voltage is too low" : "heat",
                bits & 1 && bits & 0xe ? ", and heat" : "");
        ps_mend(finding, "%s",
                bits & 1 ? "vcgencmd get_throttled   # after a stronger supply and a shorter cable"
                         : "vcgencmd measure_temp   # after better cooling");
    } else if (worst.state > 0) {
        ps_seen(finding, PS_BAD, "the kernel holds the clock down now: %s (%s) is in state %lld",
                worst.name, worst.type, (long long)worst.state);
        ps_mend(finding, "cat /sys/class/thermal/%s/cur_state   # 0 after better cooling",
                worst.name);
    } else if (machine->throttled > 0) {
        ps_seen(finding, PS_BAD, "throttled %lld times in the last second, by heat or by quota",
                (long long)machine->throttled);
        ps_mend(finding, "cat /sys/class/thermal/thermal_zone*/temp   # and see quota");
    } else if (events > 0 || bits & 0xf0000) {
        if (bits & 0xf0000)
            ps_seen(finding, PS_NOTE,
                    "not now, but at some time since boot the firmware held the "
                    "clock down (0x%lx)",
                    bits);
        else
            ps_seen(finding, PS_NOTE, "not now, but throttled %lld times since boot",
                    (long long)events);
        ps_spoils(finding, "long runs: the clock may fall while they last");
        ps_mend(finding, "perfsheet run   # rows that it happens to are marked throttled");
    } else if (events == 0 || coolers || firmware || machine->throttled == 0) {
        ps_seen(finding, PS_GOOD, "nothing holds the clock down");
    } else {
        ps_seen(finding, PS_UNKNOWN, "this kernel counts no throttling");
    }
    if (finding->verdict < PS_NOTE)
        finding->spoils[0] = 0;
}

/* ---- Heat ------------------------------------------------------------------------------------ */

struct heat {
    bool known;
    char zone[64];
    double temp_c, trip_c; /* of the zone that is closest to a trip point; trip 0: none known */
};

/* The lowest trip point at which the kernel does something about it; 0: none. */
static double passive_trip_c(const struct ps_machine *machine, const char *zone) {
    double lowest_c = 0;
    for (unsigned i = 0; i < 32; i++) {
        char path[300], type[32];
        int64_t temp;
        snprintf(path, sizeof(path), "/sys/class/thermal/%.64s/trip_point_%u_type", zone, i);
        if (ps_read_text(machine->root, path, type, sizeof(type)) <= 0)
            break;
        if (strcmp(type, "active") == 0) /* a fan */
            continue;
        snprintf(path, sizeof(path), "/sys/class/thermal/%.64s/trip_point_%u_temp", zone, i);
        if (ps_read_i64(machine->root, path, &temp) == 0 && temp > 0 &&
            (lowest_c <= 0 || (double)temp / 1000 < lowest_c))
            lowest_c = (double)temp / 1000;
    }
    return lowest_c;
}

static void look_at_zone(const struct ps_machine *machine, const char *name, void *context) {
    struct heat *closest = context;
    char path[300];
    int64_t temp;
    snprintf(path, sizeof(path), "/sys/class/thermal/%.64s/temp", name);
    if (ps_read_i64(machine->root, path, &temp) < 0 || temp <= 0 || temp > SENSOR_C_MAX * 1000)
        return;
    double temp_c = (double)temp / 1000, trip_c = passive_trip_c(machine, name);
    double left_c = (trip_c > 0 ? trip_c : HOT_C + NEAR_TRIP_C) - temp_c;
    double closest_c =
        (closest->trip_c > 0 ? closest->trip_c : HOT_C + NEAR_TRIP_C) - closest->temp_c;
    if (closest->known && left_c >= closest_c)
        return;
    closest->known = true;
    closest->temp_c = temp_c;
    closest->trip_c = trip_c;
    snprintf(closest->zone, sizeof(closest->zone), "%.63s", name);
}

void ps_check_heat(const struct ps_machine *machine, struct ps_finding *finding) {
    struct heat heat = {.known = false};
    for_each_thermal(machine, "thermal_zone", look_at_zone, &heat);
    if (!heat.known) {
        ps_seen(finding, PS_UNKNOWN, "there is no temperature sensor in /sys/class/thermal");
        return;
    }
    double limit_c = heat.trip_c > 0 ? heat.trip_c - NEAR_TRIP_C : HOT_C;
    char trip[48] = "";
    if (heat.trip_c > 0)
        snprintf(trip, sizeof(trip), "; the clock is lowered at %.0f degC", heat.trip_c);
    if (heat.temp_c < limit_c) {
        ps_seen(finding, PS_GOOD, "%s: %.0f degC%s", heat.zone, heat.temp_c, trip);
        return;
    }
    ps_seen(finding, PS_BAD, "%s is hot: %.0f degC%s", heat.zone, heat.temp_c, trip);
    ps_spoils(finding, "every row of a long run: the clock will be lowered while it lasts");
    ps_mend(finding, "watch cat /sys/class/thermal/%s/temp   # start below %.0f000", heat.zone,
            limit_c);
}
