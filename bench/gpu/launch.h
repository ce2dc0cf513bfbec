/*
 * Functions for grids as a table, for `measure.c`: what a launch needs, and the same functions on the
 * host, which take the array of pointers to parameters that a launch takes.
 */
#ifndef LAUNCH_H
#define LAUNCH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef void launched(void *const *parameters);

struct function {
    /* The beginning of the names: usuba_des_encrypt_B. */
    const char *name;
    /* Bytes of a block, of the user's key, and of its registers; 0 without a key. */
    size_t from, to, key, registers;
    /* Instructions of the kernel, and the blocks that they are for. */
    size_t instructions, blocks_of_thread;
    void (*init)(void *registers, const uint8_t *key);
    launched *blocks;
    /* Of a search, or 0: the bytes of a task. */
    size_t task;
    void (*task_init)(void *task, const uint8_t *key, const uint8_t *in, const uint8_t *out);
    void (*key_of)(uint8_t *key, uint64_t number);
    launched *search;
};

#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE
#endif

/* The functions of one that has no key, a key, or a search. */
#define PLAIN(NAME) \
    LINKAGE void NAME##_blocks_on_host(void *const *p) \
    { \
        NAME##_blocks(*(const void **)p[0], *(void **)p[1], *(size_t *)p[2]); \
    }
#define KEYED(NAME) \
    LINKAGE void NAME##_blocks_on_host(void *const *p) \
    { \
        NAME##_blocks(*(NAME##_key *)p[0], *(const void **)p[1], *(void **)p[2], *(size_t *)p[3]); \
    } \
    static void NAME##_init_any(void *registers, const uint8_t *key) \
    { \
        NAME##_init((NAME##_key *)registers, key); \
    }
#define SEARCHED(NAME) \
    KEYED(NAME) \
    LINKAGE void NAME##_search_on_host(void *const *p) \
    { \
        NAME##_search(*(NAME##_task *)p[0], *(uint64_t *)p[1], *(uint64_t *)p[2], *(uint32_t **)p[3], \
                      *(uint64_t **)p[4], *(uint32_t *)p[5]); \
    } \
    static void NAME##_task_any(void *task, const uint8_t *key, const uint8_t *in, const uint8_t *out) \
    { \
        NAME##_task_init((NAME##_task *)task, key, in, out); \
    }

/* Their rows. */
#define ROW_PLAIN(NAME, UPPER) \
    {#NAME, UPPER##_IN_BYTES, UPPER##_OUT_BYTES, 0, 0, UPPER##_INSTRUCTIONS, UPPER##_BLOCKS, NULL, NAME##_blocks_on_host, 0, NULL, NULL, NULL},
#define ROW_KEYED(NAME, UPPER) \
    {#NAME, UPPER##_IN_BYTES, UPPER##_OUT_BYTES, UPPER##_KEY_BYTES, sizeof(NAME##_key), \
     UPPER##_INSTRUCTIONS, UPPER##_BLOCKS, NAME##_init_any, \
     NAME##_blocks_on_host, 0, NULL, NULL, NULL},
#define ROW_SEARCHED(NAME, UPPER) \
    {#NAME, UPPER##_IN_BYTES, UPPER##_OUT_BYTES, UPPER##_KEY_BYTES, sizeof(NAME##_key), \
     UPPER##_INSTRUCTIONS, UPPER##_BLOCKS, NAME##_init_any, \
     NAME##_blocks_on_host, sizeof(NAME##_task), NAME##_task_any, NAME##_key_of, NAME##_search_on_host},
#endif
