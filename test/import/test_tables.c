/*
 * The shapes in which `nvidia-smi topo -m` reaches us, and rates of links.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/import/pcie.h"
#include "test/import/samples.h"

static json_t *import_text(const char *text)
{
    vp_error_t error = {0};
    json_t *report = sample_import("table.txt", text, strlen(text), &error);

    ck_assert_msg(report != NULL, "%s", error.text);
    return report;
}

static const char *pair(const json_t *report, size_t a, size_t b)
{
    return json_string_value(
        json_array_get(json_array_get(json_object_get(report, "pairs"), a), b));
}

static const char *nearest(const json_t *report, size_t gpu, size_t k)
{
    return json_string_value(
        json_array_get(json_array_get(json_object_get(report, "nearest_nics"), gpu), k));
}

/* Two GPUs under one switch and one elsewhere, a NIC at the first two. */
static void check_three(const char *text)
{
    json_t *report = import_text(text);

    ck_assert_uint_eq(json_array_size(json_object_get(report, "gpus")), 3);
    ck_assert_str_eq(pair(report, 0, 1), "PIX");
    ck_assert_str_eq(pair(report, 0, 2), "SYS");
    ck_assert_str_eq(pair(report, 2, 1), "SYS");
    ck_assert_str_eq(nearest(report, 0, 0), "mlx5_0");
    ck_assert_uint_eq(json_array_size(json_object_get(report, "nic_distances")), 1);
    json_decref(report);
}

#define LEGEND "\nLegend:\n\n  X    = Self\n  PIX  = one\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"

START_TEST(plain)
{
    check_three("\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                "GPU0\t X \tPIX\tSYS\tPIX\t0-7\t0\t\tN/A\n"
                "GPU1\tPIX\t X \tSYS\tPIX\t0-7\t0\t\tN/A\n"
                "GPU2\tSYS\tSYS\t X \tSYS\t8-15\t1\t\tN/A\n"
                "NIC0\tPIX\tPIX\tSYS\t X \t\t\t\t\n" LEGEND);
}
END_TEST

/* As a terminal gets it, and as a copy from one that lost the escape bytes. */
START_TEST(colours)
{
    check_three("\t\x1b[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\x1b[0m\r\n"
                "GPU0\t X \tPIX\tSYS\tPIX\t0-7\r\n"
                "GPU1\tPIX\t X \tSYS\tPIX\t0-7\r\n"
                "GPU2\tSYS\tSYS\t X \tSYS\t8-15\r\n" LEGEND);
    check_three("\t[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity[0m\n"
                "GPU0\t X \tPIX\tSYS\tPIX\t0-7\n"
                "GPU1\tPIX\t X \tSYS\tPIX\t0-7\n"
                "GPU2\tSYS\tSYS\t X \tSYS\t8-15\n" LEGEND);
}
END_TEST

/* Header and rows folded by a narrow terminal, inside the cells and behind them. */
START_TEST(wrapped)
{
    check_three("$ nvidia-smi topo -m\n"
                "        GPU0    GPU1\n    GPU2    NIC0    CPU Affinity\n    NUMA Affinity\n"
                "GPU0     X      PIX\n    SYS     PIX     0-7\n    0\n"
                "GPU1    PIX      X\n    SYS     PIX     0-7     0\n"
                "GPU2    SYS\n    SYS      X\n      SYS     8-15    1\n"
                "NIC0    PIX     PIX     SYS      X\n" LEGEND);
}
END_TEST

/* A table from a web page, text on the line of the header, the NIC's row missing. */
START_TEST(surroundings)
{
    check_three("Here is my topology:\n\n"
                "| Topology: | GPU0 | GPU1 | GPU2 | mlx5_0 | CPU Affinity |\n"
                "|---|---|---|---|---|---|\n"
                "| GPU0 | X | PIX | SOC | PIX | 0-7 |\n"
                "| GPU1 | PIX | X | SOC | PIX | 0-7 |\n"
                "| GPU2 | SOC | SOC | X | SOC | 8-15 |\n"
                "\nAny idea why it is slow?\n");
}
END_TEST

/* The row of GPU2 is missing, that of the NIC is empty, a second table follows. */
START_TEST(missing_rows)
{
    check_three("\tGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\n"
                "GPU0\t X \tPIX\tSYS\tPIX\t0-7\n"
                "GPU1\tPIX\t X \tSYS\tPIX\t0-7\n"
                "mlx5_0\tPIX\tPIX\tSYS\t X \t\t\n"
                "\tGPU0\tGPU1\tCPU Affinity\n"
                "GPU0\t X \tNODE\t0-7\n");
    check_three("\tGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\n"
                "GPU0\t X \tPIX\tSYS\tPIX\t0-7\n"
                "GPU1\tPIX\t X \tSYS\tPIX\t0-7\n"
                "GPU2\tSYS\tSYS\t X \tSYS\t8-15\n"
                "mlx5_0\t\t\t\t\t\t\n");
}
END_TEST

/* NVLink hides PCIe: what the NICs say is enough, else the NUMA nodes are. */
START_TEST(nvlink)
{
    json_t *report = import_text("\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\n"
                                 "GPU0\t X \tNV12\tNV12\tNV12\tPXB\tSYS\t0\n"
                                 "GPU1\tNV12\t X \tNV12\tNV12\tPXB\tSYS\t0\n"
                                 "GPU2\tNV12\tNV12\t X \tNV12\tSYS\tPIX\t0\n"
                                 "GPU3\tNV12\tNV12\tNV12\t X \tSYS\tPHB\t0\n");

    ck_assert_str_eq(pair(report, 0, 1), "PXB");
    ck_assert_str_eq(pair(report, 2, 3), "PHB");
    ck_assert_str_eq(pair(report, 1, 2), "SYS");
    json_decref(report);
    report = import_text("\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
                         "GPU0\t X \tNV4\tNV4\t0-3\t0\n"
                         "GPU1\tNV4\t X \tNV4\t0-3\t0\n"
                         "GPU2\tNV4\tNV4\t X \t4-7\t1\n");
    ck_assert_str_eq(pair(report, 0, 1), "NODE");
    ck_assert_str_eq(pair(report, 0, 2), "SYS");
    json_decref(report);
}
END_TEST

START_TEST(one_gpu)
{
    json_t *report = import_text("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7\t0\n");

    ck_assert_uint_eq(json_array_size(json_object_get(report, "gpus")), 1);
    json_decref(report);
}
END_TEST

static const struct {
    const char *text;
    uint32_t width;
    uint64_t bytes_per_s;
} links[] = {
    /* GT/s * lanes / 8 * line code * 256/280, rounded down twice */
    {"2.5 GT/s PCIe", 4, 914285714},
    {"5 GT/s", 8, 3657142857},
    {"8.0 GT/s PCIe", 16, 14403516482},
    {"16 GT/s", 16, 28807032966},
    {"32.0 GT/s PCIe", 16, 57614065933},
    {"64.0 GT/s PCIe", 16, 107885714285},
    {"Unknown speed", 16, 0},
};

START_TEST(link_rates)
{
    size_t i;
    uint32_t speed;

    for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        ck_assert_msg(vp_pcie_speed_parse(links[i].text, &speed), "%s", links[i].text);
        ck_assert_uint_eq(vp_pcie_payload_bytes_per_s(speed, links[i].width), links[i].bytes_per_s);
    }
    ck_assert(!vp_pcie_speed_parse("17 GT/s", &speed));
    ck_assert(!vp_pcie_speed_parse("-8 GT/s", &speed));
    ck_assert(!vp_pcie_speed_parse("16", &speed));
    ck_assert(!vp_pcie_is_width(3));
    ck_assert(!vp_pcie_is_width(64));
    ck_assert(vp_pcie_is_width(12));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("import tables");
    TCase *tests = tcase_create("tables");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(tests, plain);
    tcase_add_test(tests, colours);
    tcase_add_test(tests, wrapped);
    tcase_add_test(tests, surroundings);
    tcase_add_test(tests, missing_rows);
    tcase_add_test(tests, nvlink);
    tcase_add_test(tests, one_gpu);
    tcase_add_test(tests, link_rates);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
