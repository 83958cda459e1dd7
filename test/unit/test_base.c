/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/status.h"
#include "base/units.h"

/* An allocation that cannot succeed is what a test asks for here, also under AddressSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

START_TEST(buf_round_trip)
{
    vp_writer_t writer = VP_WRITER_INIT;
    vp_reader_t reader;
    char *text;

    vp_write_u8(&writer, 0xab);
    vp_write_u16(&writer, 0x1234);
    vp_write_u32(&writer, UINT32_C(0xdeadbeef));
    vp_write_u64(&writer, UINT64_C(0x0123456789abcdef));
    vp_write_string(&writer, "path");
    vp_write_string(&writer, NULL);
    ck_assert(!writer.failed);
    ck_assert_uint_eq(writer.n_bytes, 1 + 2 + 4 + 8 + 4 + 4 + 4);
    ck_assert_uint_eq(writer.data[1], 0x34); /* little-endian */
    vp_reader_init(&reader, writer.data, writer.n_bytes);
    ck_assert_uint_eq(vp_read_u8(&reader), 0xab);
    ck_assert_uint_eq(vp_read_u16(&reader), 0x1234);
    ck_assert_uint_eq(vp_read_u32(&reader), UINT32_C(0xdeadbeef));
    ck_assert_uint_eq(vp_read_u64(&reader), UINT64_C(0x0123456789abcdef));
    text = vp_read_string(&reader, 4);
    ck_assert_str_eq(text, "path");
    free(text);
    text = vp_read_string(&reader, 0);
    ck_assert_str_eq(text, "");
    free(text);
    ck_assert_uint_eq(vp_reader_left(&reader), 0);
    ck_assert(!reader.failed);
    vp_writer_clear(&writer);
    ck_assert_ptr_null(writer.data);
}
END_TEST

START_TEST(buf_reads_past_the_end_are_zero)
{
    static const uint8_t bytes[7] = {1, 2, 3, 4, 5, 6, 7};
    uint8_t target[8];
    vp_reader_t reader;

    vp_reader_init(&reader, bytes, sizeof(bytes));
    ck_assert_uint_eq(vp_read_u64(&reader), 0);
    ck_assert(reader.failed);
    ck_assert_uint_eq(vp_reader_left(&reader), 0);
    ck_assert_uint_eq(vp_read_u8(&reader), 0); /* a failed reader stays failed */

    vp_reader_init(&reader, bytes, sizeof(bytes));
    (void)vp_read_u32(&reader);
    memset(target, 0xff, sizeof(target));
    vp_read_bytes(&reader, target, 4);
    ck_assert(reader.failed);
    ck_assert_uint_eq(target[0], 0);
    ck_assert_uint_eq(target[3], 0);
    ck_assert_uint_eq(target[4], 0xff);

    vp_reader_init(&reader, NULL, 0);
    vp_read_bytes(&reader, target, 0);
    ck_assert(!reader.failed);
}
END_TEST

static bool reads_string(const void *bytes, size_t n_bytes, size_t max_bytes)
{
    vp_reader_t reader;
    char *text;

    vp_reader_init(&reader, bytes, n_bytes);
    text = vp_read_string(&reader, max_bytes);
    ck_assert_int_eq(text == NULL, reader.failed);
    free(text);
    return !reader.failed;
}

START_TEST(buf_strings_are_bounded)
{
    ck_assert(reads_string("\3\0\0\0abc", 7, 3));
    ck_assert(!reads_string("\3\0\0\0abc", 7, 2));   /* longer than allowed */
    ck_assert(!reads_string("\4\0\0\0abc", 7, 99));  /* longer than what is left */
    ck_assert(!reads_string("\3\0\0\0a\0c", 7, 99)); /* zero byte inside */
    ck_assert(!reads_string("\377\377\377\377abc", 7, SIZE_MAX));
    ck_assert(!reads_string("\3\0\0", 3, 99)); /* length cut off */
}
END_TEST

START_TEST(array_sizes_do_not_overflow)
{
    size_t capacity = 0;
    uint64_t *array = NULL;
    uint64_t *kept;

    ck_assert_ptr_null(vp_array_new(SIZE_MAX / 4, 8));
    ck_assert_ptr_null(vp_array_new(SIZE_MAX, SIZE_MAX));
    kept = vp_array_new(0, 8);
    ck_assert_ptr_nonnull(kept);
    free(kept);

    ck_assert(vp_array_reserve(&array, &capacity, 3, sizeof(*array)));
    ck_assert_uint_ge(capacity, 3);
    array[0] = 42;
    kept = array;
    ck_assert(!vp_array_reserve(&array, &capacity, SIZE_MAX, sizeof(*array)));
    ck_assert(!vp_array_reserve(&array, &capacity, SIZE_MAX / 8 + 1, sizeof(*array)));
    ck_assert_ptr_eq(array, kept); /* untouched on failure */
    ck_assert(vp_array_reserve(&array, &capacity, 1000, sizeof(*array)));
    ck_assert_uint_eq(array[0], 42);
    free(array);
}
END_TEST

START_TEST(units_round_as_stated)
{
    ck_assert_uint_eq(vp_transfer_ns(0, 7), 0);
    ck_assert_uint_eq(vp_transfer_ns(1, VP_NS_PER_S), 1);
    ck_assert_uint_eq(vp_transfer_ns(1, 3 * VP_NS_PER_S), 1);       /* up */
    ck_assert_uint_eq(vp_transfer_ns(10, 3), UINT64_C(3333333334)); /* up */
    ck_assert_uint_eq(vp_bytes_in_ns(3, UINT64_C(333333333)), 0);   /* down */
    ck_assert_uint_eq(vp_bytes_in_ns(3, UINT64_C(333333334)), 1);
    ck_assert_uint_eq(vp_transfer_ns(UINT64_MAX, 1), UINT64_MAX); /* saturates */
    ck_assert_uint_eq(vp_muldiv_floor(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(vp_muldiv_ceil(UINT64_MAX, 2, 3), UINT64_C(12297829382473034410));
    ck_assert_uint_eq(vp_add_sat(UINT64_MAX, 1), UINT64_MAX);
    ck_assert_uint_eq(vp_add_sat(UINT64_MAX - 1, 1), UINT64_MAX);
    ck_assert_uint_eq(vp_mul_sat(UINT64_C(1) << 33, UINT64_C(1) << 31), UINT64_MAX);
    ck_assert_uint_eq(vp_mul_sat(UINT64_MAX, 0), 0);
}
END_TEST

static char directory[32];

static const char *in_directory(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static int count_files(void)
{
    DIR *stream = opendir(directory);
    int n = 0;

    ck_assert_ptr_nonnull(stream);
    while (readdir(stream) != NULL) {
        n++;
    }
    (void)closedir(stream);
    return n - 2;
}

static void make_directory(void)
{
    (void)snprintf(directory, sizeof(directory), "/tmp/vp_test_base.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    (void)unlink(in_directory("file"));
    (void)rmdir(in_directory("taken"));
    ck_assert_int_eq(rmdir(directory), 0);
}

START_TEST(file_round_trip)
{
    vp_error_t error;
    char *data = NULL;
    size_t n_bytes = 0;

    ck_assert_int_eq(vp_file_write(in_directory("file"), "a\0b", 3, &error), VP_OK);
    ck_assert_int_eq(vp_file_write(in_directory("file"), "new\0", 4, &error), VP_OK);
    ck_assert_int_eq(count_files(), 1);
    ck_assert_int_eq(vp_file_read(in_directory("file"), 4, &data, &n_bytes, &error), VP_OK);
    ck_assert_uint_eq(n_bytes, 4);
    ck_assert_mem_eq(data, "new\0", 5); /* with the zero byte behind the last one */
    free(data);
}
END_TEST

START_TEST(file_write_leaves_nothing_partial)
{
    vp_error_t error;
    struct stat facts;

    /* A directory of that name: the data is written, the rename is refused. */
    ck_assert_int_eq(mkdir(in_directory("taken"), 0700), 0);
    ck_assert_int_eq(vp_file_write(in_directory("taken"), "data", 4, &error), VP_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.text, in_directory("taken")));
    ck_assert_int_eq(count_files(), 1);
    ck_assert_int_eq(stat(in_directory("taken"), &facts), 0);
    ck_assert(S_ISDIR(facts.st_mode));

    ck_assert_int_eq(vp_file_write(in_directory("no/such/place"), "data", 4, &error), VP_ERR_IO);
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

/* A pipe is written in place, as is whatever a symbolic link leads to replaced there. */
START_TEST(file_write_in_place)
{
    const char *pipe_path = in_directory("pipe");
    char path[256];
    vp_error_t error;
    struct stat facts;
    char *data = NULL;
    size_t n_bytes = 0;
    int status;

    (void)snprintf(path, sizeof(path), "%s", pipe_path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    if (fork() == 0) {
        _exit(vp_file_write(path, "through", 7, &error) == VP_OK ? 0 : 1);
    }
    ck_assert_int_eq(vp_file_read(path, 100, &data, &n_bytes, &error), VP_OK);
    ck_assert_int_gt(wait(&status), 0);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(n_bytes, 7);
    ck_assert_str_eq(data, "through");
    free(data);
    ck_assert_int_eq(lstat(path, &facts), 0);
    ck_assert(S_ISFIFO(facts.st_mode));
    ck_assert_int_eq(count_files(), 1);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(vp_file_write("/dev/null", "data", 4, &error), VP_OK);
    ck_assert_int_eq(lstat("/dev/null", &facts), 0);
    ck_assert(S_ISCHR(facts.st_mode));
    ck_assert_int_eq(vp_file_write("/dev/full", "data", 4, &error), VP_ERR_IO);
}
END_TEST

START_TEST(file_read_takes_standard_input)
{
    vp_error_t error;
    char *data = NULL;
    size_t n_bytes = 0;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "typed", 5), 5);
    ck_assert_int_eq(close(ends[1]), 0);
    ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    ck_assert_int_eq(vp_file_read("-", 5, &data, &n_bytes, &error), VP_OK);
    ck_assert_uint_eq(n_bytes, 5);
    ck_assert_str_eq(data, "typed");
    free(data);
}
END_TEST

START_TEST(rates_have_digits_before_the_point)
{
    static const struct {
        uint64_t bytes_per_s;
        const char *text;
    } rows[] = {{64000000000, "64.0 GB/s"}, {1000000000, "1.0 GB/s"}, {999000000, "999.0 MB/s"},
                {50000000, "50.0 MB/s"},    {1500, "1.5 kB/s"},       {999, "999 B/s"}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[VP_RATE_TEXT_BYTES];

        vp_rate_text(rows[i].bytes_per_s, text);
        ck_assert_str_eq(text, rows[i].text);
    }
}
END_TEST

START_TEST(file_read_is_bounded)
{
    vp_error_t error;
    char *data = (char *)"untouched";
    size_t n_bytes = 77;

    ck_assert_int_eq(vp_file_write(in_directory("file"), "12345", 5, &error), VP_OK);
    ck_assert_int_eq(vp_file_read(in_directory("file"), 4, &data, &n_bytes, &error),
                     VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "4 bytes"));
    ck_assert_int_eq(vp_file_read(directory, 4, &data, &n_bytes, &error), VP_ERR_BAD_INPUT);
    ck_assert_int_eq(vp_file_read(in_directory("absent"), 4, &data, &n_bytes, &error), VP_ERR_IO);
    ck_assert_str_eq(data, "untouched");
    ck_assert_uint_eq(n_bytes, 77);
}
END_TEST

START_TEST(status_texts)
{
    vp_error_t error;
    char long_text[2000];

    ck_assert_str_eq(vp_status_text(VP_OK), "success");
    ck_assert_str_eq(vp_status_text(VP_ERR_LIMIT), "a stated limit was reached");
    ck_assert_ptr_nonnull(vp_status_text(12345));
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    ck_assert_int_eq(vp_error_set(&error, VP_ERR_IO, "%s", long_text), VP_ERR_IO);
    ck_assert_uint_eq(strlen(error.text), VP_ERROR_TEXT_BYTES - 1);
    ck_assert_int_eq(error.status, VP_ERR_IO);
    ck_assert_int_eq(vp_error_set(NULL, VP_ERR_IO, "nobody listens"), VP_ERR_IO);
}
END_TEST

static void count_line(void *context, vp_log_level_t level, const char *line)
{
    int *n_lines = context;

    (void)level;
    ck_assert_str_eq(line, "value 7");
    (*n_lines)++;
}

START_TEST(log_respects_verbosity)
{
    int n_lines = 0;
    vp_log_t log = {.write = count_line, .context = &n_lines, .verbosity = VP_LOG_CALL};

    vp_log(&log, VP_LOG_ERROR, "value %d", 7);
    vp_log(&log, VP_LOG_CALL, "value %d", 7);
    vp_log(&log, VP_LOG_DEBUG, "value %d", 7);
    vp_log(NULL, VP_LOG_ERROR, "value %d", 7);
    ck_assert_int_eq(n_lines, 2);
}
END_TEST

START_TEST(hash_is_xxh64)
{
    ck_assert_uint_eq(vp_hash64("", 0), UINT64_C(0xef46db3751d8e999));
    ck_assert_uint_eq(vp_hash64("abc", 3), UINT64_C(0x44bc2cf5ad770999));
}
END_TEST

START_TEST(hash_of_parts_is_hash_of_whole)
{
    uint8_t text[100];
    vp_hash64_state_t state;
    size_t cut;
    size_t i;

    for (i = 0; i < sizeof(text); i++) {
        text[i] = (uint8_t)(7 * i);
    }
    for (cut = 0; cut <= sizeof(text); cut++) {
        vp_hash64_start(&state);
        vp_hash64_add(&state, text, cut);
        vp_hash64_add(&state, text + cut, sizeof(text) - cut);
        ck_assert_uint_eq(vp_hash64_end(&state), vp_hash64(text, sizeof(text)));
    }
}
END_TEST

START_TEST(pool_keeps_blocks)
{
    vp_pool_t *pool = vp_pool_create();
    uint32_t *array = NULL;
    size_t capacity = 0;
    uint8_t *first;
    uint8_t *zeroed;
    uint8_t *other;

    ck_assert_ptr_nonnull(pool);
    ck_assert_ptr_null(vp_pool_take(pool, SIZE_MAX, 2));
    first = vp_pool_take(pool, 100, 10);
    ck_assert_ptr_nonnull(first);
    memset(first, 7, 1000);
    vp_pool_give(pool, first);
    other = vp_pool_take(pool, 1, 10); /* far shorter: the block is kept for those that need it */
    zeroed = vp_pool_take_zeroed(pool, 90, 10);
    ck_assert_ptr_ne(other, first);
    ck_assert_ptr_eq(zeroed, first);
    ck_assert_uint_eq(zeroed[0], 0);
    ck_assert_uint_eq(zeroed[899], 0);
    vp_pool_give(pool, other);
    vp_pool_give(pool, zeroed);
    ck_assert(vp_pool_reserve(pool, &array, &capacity, 3, sizeof(*array)));
    ck_assert_uint_ge(capacity, 3);
    array[2] = 42;
    ck_assert(vp_pool_reserve(pool, &array, &capacity, 1000, sizeof(*array)));
    ck_assert_uint_ge(capacity, 1000);
    ck_assert_uint_eq(array[2], 42);
    ck_assert(!vp_pool_reserve(pool, &array, &capacity, SIZE_MAX / 2, sizeof(*array)));
    vp_pool_give(pool, array);
    vp_pool_destroy(pool);
    vp_pool_give(NULL, vp_pool_take_zeroed(NULL, 5, 5));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *memory = tcase_create("memory");
    TCase *files = tcase_create("files");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(memory, buf_round_trip);
    tcase_add_test(memory, buf_reads_past_the_end_are_zero);
    tcase_add_test(memory, buf_strings_are_bounded);
    tcase_add_test(memory, array_sizes_do_not_overflow);
    tcase_add_test(memory, units_round_as_stated);
    tcase_add_test(memory, status_texts);
    tcase_add_test(memory, log_respects_verbosity);
    tcase_add_test(memory, hash_is_xxh64);
    tcase_add_test(memory, hash_of_parts_is_hash_of_whole);
    tcase_add_test(memory, pool_keeps_blocks);
    tcase_add_checked_fixture(files, make_directory, remove_directory);
    tcase_add_test(files, file_round_trip);
    tcase_add_test(files, file_write_leaves_nothing_partial);
    tcase_add_test(files, file_write_in_place);
    tcase_add_test(files, file_read_takes_standard_input);
    tcase_add_test(files, file_read_is_bounded);
    tcase_add_test(files, rates_have_digits_before_the_point);
    suite_add_tcase(suite, memory);
    suite_add_tcase(suite, files);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
