/* The interface of every adapter: a list of ciphers in modes of operation.

   `peer_version` returns the version of the library, `peer_list` number `index` or NULL after the
   last one. */

#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    /* A name of `src/ciphers.rs`. */
    const char *cipher;
    /* "ctr" (also for stream ciphers), "blocks" without a mode, "seal": the tag fills the last 16
       bytes of `out`; or "hash" or "mac": `run` writes the hash or tag to the beginning of `out`, or
       the ones of eight messages that follow each other in `in`. */
    const char *mode;
    /* The name of the called function. */
    const char *call;
    /* Which of the adapter's algorithms; only for the functions here. */
    int number;
    /* A key, ready for use; NULL if there is no such cipher here. */
    void *(*init)(int number, const uint8_t *key);
    /* One message from the counter or nonce `start` on; 0, or an error. */
    int (*run)(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length);
    void (*drop)(void *state);
} peer;

#ifdef __cplusplus
#define PEER_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define PEER_EXPORT __attribute__((visibility("default")))
#endif

PEER_EXPORT const char *peer_version(void);
PEER_EXPORT const peer *peer_list(size_t index);

/* The functions above, for a list `peers`. */
#define PEER_LIST(peers) \
    PEER_EXPORT const peer *peer_list(size_t index) \
    { \
        return index < sizeof peers / sizeof *peers ? &peers[index] : NULL; \
    }

#endif
