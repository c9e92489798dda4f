/* SPDX-License-Identifier: MIT
 *
 * The doctor's checks of clocks and heat: a good, a bad and an absent case each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/doctor_fixture.h"

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"

static void test_governor(void **state) {
    (void)state;
    static const char *const moving[] = {"powersave", "ondemand", "conservative", "schedutil"};
    describe(NULL, NULL);
    expect_found("governor", PS_UNKNOWN, "no cpufreq", NULL);
    for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++) {
        fake_file(&root, moving[i], CPUFREQ "scaling_governor");
        expect_found("governor", PS_BAD, moving[i], "echo performance | sudo tee");
    }
    fake_file(&root, "performance\n", CPUFREQ "scaling_governor");
    expect_found("governor", PS_GOOD, "cpu 0 performance", NULL);
}

/* The second cluster's governor counts as well. */
static void test_governor_of_clusters(void **state) {
    (void)state;
    fake_file(&root, "400\n", "/sys/devices/system/cpu/cpu0/cpu_capacity");
    fake_file(&root, "1024\n", "/sys/devices/system/cpu/cpu1/cpu_capacity");
    fake_file(&root, "performance\n", CPUFREQ "scaling_governor");
    fake_file(&root, "ondemand\n", "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor");
    describe(NULL, NULL);
    expect_found("governor", PS_BAD, "cpu 1 has the governor ondemand", NULL);
}

static void test_clock_limit(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("clock-limit", PS_UNKNOWN, "no cpufreq", NULL);
    fake_file(&root, "1700000\n", CPUFREQ "cpuinfo_max_freq");
    expect_found("clock-limit", PS_UNKNOWN, "no cpufreq", NULL); /* only one of the two */
    fake_file(&root, "1200000\n", CPUFREQ "scaling_max_freq");
    expect_found("clock-limit", PS_BAD, "1200 of 1700 MHz",
                 "echo 1700000 | sudo tee " CPUFREQ "scaling_max_freq");
    fake_file(&root, "1700000\n", CPUFREQ "scaling_max_freq");
    expect_found("clock-limit", PS_GOOD, "hardware's maximum", NULL);
}

static void test_clock(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("clock", PS_UNKNOWN, "not measured", NULL);
    machine.clock_measured = true;
    expect_found("clock", PS_BAD, "disagree", "selftest");
    machine.chains_agree = true;
    machine.measured_mhz[0] = 1295;
    expect_found("clock", PS_GOOD, "no report", NULL);
    machine.busy_khz[0] = 1700000;
    expect_found("clock", PS_BAD, "1295 MHz measured, 1700 MHz reported (-24 %)",
                 "reference_mhz = 1295");
    machine.measured_mhz[0] = 1690;
    expect_found("clock", PS_GOOD, "1690 MHz, as reported", NULL);
    machine.measured_mhz[0] = 1760; /* faster is as wrong */
    expect_found("clock", PS_BAD, "(+4 %)", NULL);
    machine.busy_khz[0] = 0; /* the limit stands in for what is not reported */
    fake_file(&root, "1000000\n", CPUFREQ "scaling_max_freq");
    expect_found("clock", PS_BAD, "1000 MHz reported", NULL);
}

static void test_boost(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("boost", PS_UNKNOWN, "no switch", NULL);
    fake_file(&root, "1\n", "/sys/devices/system/cpu/cpufreq/boost");
    expect_found("boost", PS_NOTE, "boost clocks are on", "echo 0 | sudo tee");
    fake_file(&root, "0\n", "/sys/devices/system/cpu/cpufreq/boost");
    expect_found("boost", PS_GOOD, "off", NULL);
    /* This one is the other way round. */
    fake_file(&root, "0\n", "/sys/devices/system/cpu/intel_pstate/no_turbo");
    expect_found("boost", PS_NOTE, "boost clocks are on", "echo 1 | sudo tee");
    fake_file(&root, "1\n", "/sys/devices/system/cpu/intel_pstate/no_turbo");
    expect_found("boost", PS_GOOD, "off", NULL);
}

#define SOURCE "/sys/devices/system/clocksource/clocksource0/"

static void test_clock_source(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("clock-source", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "arch_sys_counter\n", SOURCE "current_clocksource");
    expect_found("clock-source", PS_GOOD, "arch_sys_counter", NULL);
    fake_file(&root, "hpet\n", SOURCE "current_clocksource");
    fake_file(&root, "tsc hpet acpi_pm \n", SOURCE "available_clocksource");
    expect_found("clock-source", PS_BAD, "hpet", "echo tsc | sudo tee " SOURCE);
    fake_file(&root, "hpet tsc-early acpi_pm\n", SOURCE "available_clocksource");
    assert_true(ps_check_run(&machine, "clock-source", &found));
    assert_int_equal(found.verdict, PS_BAD);
    assert_non_null(strstr(found.seen, "there is no faster one"));
    assert_string_equal(found.mend, ""); /* a part of a word is no clock */
}

static void test_throttling(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("throttling", PS_UNKNOWN, "counts no throttling", NULL);
    machine.throttled = 0;
    expect_found("throttling", PS_GOOD, "nothing holds", NULL);
    machine.throttled = 3;
    expect_found("throttling", PS_BAD, "3 times in the last second", NULL);
    machine.throttled = -1;
    for (unsigned cpu = 0; cpu < 2; cpu++)
        fake_file(&root, "0\n",
                  "/sys/devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count", cpu);
    expect_found("throttling", PS_GOOD, "nothing holds", NULL);
    fake_file(&root, "7\n", "/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count");
    expect_found("throttling", PS_NOTE, "7 times since boot", NULL);
}

static void test_cooling(void **state) {
    (void)state;
    describe(NULL, NULL);
    fake_file(&root, "pwm-fan\n", "/sys/class/thermal/cooling_device0/type");
    fake_file(&root, "3\n", "/sys/class/thermal/cooling_device0/cur_state");
    fake_file(&root, "cpufreq-cpu0\n", "/sys/class/thermal/cooling_device1/type");
    fake_file(&root, "0\n", "/sys/class/thermal/cooling_device1/cur_state");
    expect_found("throttling", PS_GOOD, "nothing holds", NULL); /* a fan may turn */
    fake_file(&root, "2\n", "/sys/class/thermal/cooling_device1/cur_state");
    expect_found("throttling", PS_BAD, "cooling_device1 (cpufreq-cpu0) is in state 2",
                 "cooling_device1/cur_state");
}

#define FIRMWARE "/sys/devices/platform/soc/soc:firmware/get_throttled"

static void test_firmware_throttling(void **state) {
    (void)state;
    describe(NULL, NULL);
    fake_file(&root, "0\n", FIRMWARE);
    expect_found("throttling", PS_GOOD, "nothing holds", NULL);
    fake_file(&root, "50000\n", FIRMWARE);
    expect_found("throttling", PS_NOTE, "0x50000", NULL);
    fake_file(&root, "50005\n", FIRMWARE);
    expect_found("throttling", PS_BAD, "supply voltage is too low, and heat", "vcgencmd");
    fake_file(&root, "4\n", FIRMWARE);
    expect_found("throttling", PS_BAD, "now: heat", "vcgencmd measure_temp");
}

static void zone(unsigned number, const char *temp, const char *trip_type, const char *trip_temp) {
    fake_file(&root, temp, "/sys/class/thermal/thermal_zone%u/temp", number);
    if (!trip_type)
        return;
    fake_file(&root, "active\n", "/sys/class/thermal/thermal_zone%u/trip_point_0_type", number);
    fake_file(&root, "30000\n", "/sys/class/thermal/thermal_zone%u/trip_point_0_temp", number);
    fake_file(&root, trip_type, "/sys/class/thermal/thermal_zone%u/trip_point_1_type", number);
    fake_file(&root, trip_temp, "/sys/class/thermal/thermal_zone%u/trip_point_1_temp", number);
}

static void test_heat(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("heat", PS_UNKNOWN, "no temperature sensor", NULL);
    zone(0, "255000\n", NULL, NULL); /* a sensor that is off */
    zone(1, "-273000\n", NULL, NULL);
    expect_found("heat", PS_UNKNOWN, "no temperature sensor", NULL);
    zone(0, "60000\n", NULL, NULL);
    expect_found("heat", PS_GOOD, "60 degC", NULL);
    zone(0, "81000\n", NULL, NULL); /* hot for anything, where nobody says at what it is */
    expect_found("heat", PS_BAD, "thermal_zone0 is hot: 81 degC", NULL);
    zone(0, "81000\n", "passive\n", "95000\n");
    expect_found("heat", PS_GOOD, "lowered at 95 degC", NULL);
    zone(1, "71000\n", "passive\n", "75000\n"); /* cooler, and closer to its limit */
    expect_found("heat", PS_BAD, "thermal_zone1 is hot: 71 degC", "start below 70000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(test_governor),
        DOCTOR_TEST(test_governor_of_clusters),
        DOCTOR_TEST(test_clock_limit),
        DOCTOR_TEST(test_clock),
        DOCTOR_TEST(test_boost),
        DOCTOR_TEST(test_clock_source),
        DOCTOR_TEST(test_throttling),
        DOCTOR_TEST(test_cooling),
        DOCTOR_TEST(test_firmware_throttling),
        DOCTOR_TEST(test_heat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
