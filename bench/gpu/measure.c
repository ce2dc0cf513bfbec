/*
 * Functions for grids on a device of NVIDIA: bytes in its memory, checked against the same functions on
 * the host, then timed, the median of several launches. A function that computes something wrong has a
 * line that says so, and the exit code is 1.
 *
 *   measure DRIVER                              whether there is a device, and no more
 *   measure DRIVER BYTES KEYS IMAGE OBJECT...   each object with its image: PTX, a cubin
 *
 * DRIVER is the shared object of the driver; BYTES go through each function, KEYS through each search.
 *
 * Each row: a function, its registers and bytes of local memory in a thread, Gbit/s (of a search: 10^9
 * keys a second), and the share of the bound: a multiprocessor executes the instructions of a kernel,
 * and nothing else, in 64 lanes in each cycle of the highest clock.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "launch.h"

#define POINTER(NAME, SYMBOL, PARAMETERS) static int (*NAME) PARAMETERS;
DRIVER(POINTER)

enum { THREADS = 256, LAUNCHES = 11, CHECKED = 3000, LANES = 64 };

static void die(const char *what, const char *why)
{
    fprintf(stderr, "measure: %s: %s\n", what, why);
    exit(1);
}

static void check(int error, const char *what)
{
    const char *name = "unknown error";
    if (error) error_name(error, &name);
    if (error) die(what, name);
}

static void load_driver(const char *path)
{
    void *driver = dlopen(path, RTLD_NOW);
    if (!driver) die("there is no driver", dlerror());
#define LOAD(NAME, SYMBOL, PARAMETERS) \
    *(void **)&NAME = dlsym(driver, SYMBOL); \
    if (!NAME) die(SYMBOL, "the driver lacks it");
    DRIVER(LOAD)
}

static unsigned char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    unsigned char *text = NULL;
    size_t length = 0, room = 0, got = 1;
    if (!file) die(path, "it cannot be read");
    while (got) {
        if (length + 1 >= room) text = (unsigned char *)realloc(text, room = 2 * room + 65536);
        if (!text) die(path, "there is no memory for it");
        length += got = fread(text + length, 1, room - length - 1, file);
    }
    fclose(file);
    text[length] = 0;
    return text;
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Functions that computed something wrong. */
static int wrong;

/* Says so in the table; the others are still measured. */
static void is_wrong(const char *name, const char *why)
{
    printf("wrong: %s: %s\n", name, why);
    fflush(stdout);
    wrong++;
}

/* The device. */
static double bound;
static int multiprocessors;
static event begin, end;

/* Seconds of a launch, the median. */
static double timed(function started, void **parameters, size_t threads)
{
    float times[LAUNCHES];
    int blocks, i;
    size_t grid = (threads + THREADS - 1) / THREADS, most;
    check(occupancy(&blocks, started, THREADS, 0), "the occupancy of a function");
    most = (size_t)blocks * (size_t)multiprocessors;
    if (grid > most) grid = most;
    for (i = 0; i < LAUNCHES; i++) {
        check(event_record(begin, NULL), "an event");
        check(launch(started, (unsigned)grid, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL), "a launch");
        check(event_record(end, NULL), "an event");
        check(event_wait(end), "a function");
        check(event_elapsed(times + i, begin, end), "an event");
    }
    qsort(times, LAUNCHES, sizeof times[0], compare);
    return times[LAUNCHES / 2] / 1e3;
}

/* Instructions for a block. */
static double instructions(const struct function *f)
{
    return (double)f->instructions / (double)f->blocks_of_thread;
}

static void row(const char *name, function asked, double rate, double share)
{
    int registers, local;
    check(function_attribute(&registers, REGISTERS, asked), "the registers of a function");
    check(function_attribute(&local, LOCAL_BYTES, asked), "the local memory of a function");
    printf("%-36s %4d %6d %10.2f", name, registers, local, rate);
    printf(" %5.1f %%\n", 100 * share);
    fflush(stdout);
}

static function find(module loaded, const char *name, const char *what)
{
    char text[200];
    function found;
    snprintf(text, sizeof text, "%s_%s", name, what);
    check(module_function(&found, loaded, text), text);
    return found;
}

static void blocks(const struct function *f, module loaded, size_t bytes)
{
    const function started = find(loaded, f->name, "blocks");
    const double each = instructions(f);
    size_t nblocks = bytes / f->to, checked = nblocks < CHECKED ? nblocks : CHECKED, i;
    unsigned char *in = (unsigned char *)aligned_alloc(64, (nblocks * f->from + 63) / 64 * 64);
    unsigned char *out = (unsigned char *)aligned_alloc(64, (nblocks * f->to + 63) / 64 * 64);
    unsigned char *wanted = (unsigned char *)aligned_alloc(64, (checked * f->to + 63) / 64 * 64);
    unsigned char *registers = (unsigned char *)calloc(1, f->registers + 1), *key = (unsigned char *)calloc(1, f->key + 1);
    const void *from = in;
    void *to = wanted, *parameters[4], **p = parameters;
    address device_in, device_out;
    double seconds;
    if (!in || !out || !wanted || !registers || !key) die(f->name, "there is no memory for it");
    for (i = 0; i < nblocks * f->from; i++) in[i] = (unsigned char)(i * 2654435761u >> 13);
    for (i = 0; i < f->key; i++) key[i] = (unsigned char)(37 * i + 11);
    if (f->key) f->init(registers, key), *p++ = registers;
    p[0] = &from, p[1] = &to, p[2] = &checked;
    f->blocks(parameters);
    check(allocate(&device_in, nblocks * f->from), "memory of the device");
    check(allocate(&device_out, nblocks * f->to), "memory of the device");
    check(to_device(device_in, in, nblocks * f->from), "a copy to the device");
    p[0] = &device_in, p[1] = &device_out, p[2] = &nblocks;
    seconds = timed(started, parameters, nblocks);
    check(to_host(out, device_out, nblocks * f->to), "a copy from the device");
    if (memcmp(out, wanted, checked * f->to)) is_wrong(f->name, "the device computes something else than the host");
    else row(f->name, started, (double)(nblocks * f->to) * 8e-9 / seconds,
        each * (double)nblocks / seconds / bound);
    check(release(device_in), "memory"), check(release(device_out), "memory");
    free(in), free(out), free(wanted), free(registers), free(key);
}

static void search(const struct function *f, module loaded, uint64_t keys)
{
    const function started = find(loaded, f->name, "search");
    const double each = instructions(f);
    unsigned char *task = (unsigned char *)calloc(1, f->task), *registers = (unsigned char *)calloc(1, f->registers);
    unsigned char *key = (unsigned char *)calloc(1, f->key);
    unsigned char in[256] = "a known block", out[256];
    const uint64_t from = 0x12345678ULL << 20, there = from + keys - 321;
    uint64_t count = keys, start = from, found[2] = {0, 0};
    uint32_t hits[2] = {0, 0}, room = 1;
    address numbers, counter;
    const void *block = in;
    void *made = out;
    size_t one = 1;
    void *host[4] = {registers, &block, &made, &one};
    void *parameters[6] = {task, &start, &count, &counter, &numbers, &room};
    double seconds;
    char name[200];
    if (!task || !registers || !key) die(f->name, "there is no memory for it");
    if (f->from > sizeof in || f->to > sizeof out) return;
    f->key_of(key, there);
    f->init(registers, key);
    f->blocks(host);
    f->task_init(task, key, in, out);
    check(allocate(&numbers, sizeof found), "memory of the device");
    check(allocate(&counter, sizeof hits), "memory of the device");
    check(to_device(counter, hits, sizeof hits), "a copy to the device");
    seconds = timed(started, parameters, (size_t)(keys / 1024));
    check(to_host(hits, counter, sizeof hits), "a copy from the device");
    check(to_host(found, numbers, sizeof found), "a copy from the device");
    snprintf(name, sizeof name, "%s_search", f->name);
    /* Each launch finds it. */
    if (hits[0] < LAUNCHES || (hits[0] == LAUNCHES && found[0] != there)) is_wrong(f->name, "the search found no key");
    else row(name, started, (double)keys * 1e-9 / seconds, each * (double)keys / seconds / bound);
    check(release(numbers), "memory"), check(release(counter), "memory");
    free(task), free(registers), free(key);
}

int main(int count, char **arguments)
{
    char name[200];
    int device, value, clock, major, minor;
    context used;
    int i;
    if (count != 2 && count < 6) die("arguments", "DRIVER [BYTES KEYS IMAGE OBJECT...]");
    load_driver(arguments[1]);
    check(init(0), "the driver");
    check(device_get(&device, 0), "the first device");
    if (count == 2) return 0;
    check(device_name(name, sizeof name, device), "the name of the device");
    check(device_attribute(&value, MULTIPROCESSORS, device), "the device");
    check(device_attribute(&clock, CLOCK_KHZ, device), "the device");
    check(device_attribute(&major, MAJOR, device), "the device");
    check(device_attribute(&minor, MINOR, device), "the device");
    check(context_retain(&used, device), "a context"), check(context_use(used), "a context");
    check(event_create(&begin, 0), "an event"), check(event_create(&end, 0), "an event");
    multiprocessors = value;
    bound = (double)value * LANES * clock * 1e3;
    printf("%s (sm_%d%d): %d multiprocessors at %.2f GHz, at most %.3g operations of 32 bits a second\n", name,
           major, minor, value, clock / 1e6, bound);
    printf("%-36s %4s %6s %10s %7s\n", "function", "regs", "local", "Gbit/s", "bound");
    for (i = 4; i + 1 < count; i += 2) {
        void *object = dlopen(arguments[i + 1], RTLD_NOW);
        const struct function *f;
        const void *image = arguments[i];
        module loaded;
        if (!object) die(arguments[i + 1], dlerror());
        f = (const struct function *)dlsym(object, "functions");
        if (!f) die(arguments[i + 1], "it has no table of functions");
        /* The stand-in takes the path of an object. */
        if (!strstr(arguments[i], ".so")) image = read_file(arguments[i]);
        check(module_load(&loaded, image), arguments[i]);
        for (; f->name; f++) {
            blocks(f, loaded, strtoull(arguments[2], NULL, 0));
            if (f->task) search(f, loaded, strtoull(arguments[3], NULL, 0));
        }
        check(module_unload(loaded), "a module");
    }
    return wrong > 0;
}
