/* Skein as its authors wrote it for 64-bit processors, in the objects of the Haskell package `skein`.
   The package has no header for C: these are the calls of the authors' interface. */

#include <stdint.h>
#include <stdlib.h>

#include "peer.h"

/* More than the largest of their contexts. */
typedef struct {
    uint64_t words[64];
} context;

#define FUNCTION(NAME) \
    int NAME##_Init(context *, size_t bits); \
    int NAME##_Update(context *, const uint8_t *, size_t); \
    int NAME##_Final(context *, uint8_t *);

FUNCTION(Skein_256)
FUNCTION(Skein_512)
FUNCTION(Skein1024)

PEER_EXPORT const char *peer_version(void)
{
    return SKEIN_VERSION;
}

static void *init(int number, const uint8_t *key)
{
    int *count = malloc(sizeof *count);
    (void)key;
    if (count) *count = number;
    return count;
}

/* Messages in sequence, of the number given to `init`; hashes have SIZE bytes. */
#define RUN(NAME, SIZE) \
    static int NAME##_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        const size_t count = (size_t)*(int *)state, each = length / count; \
        context hash; \
        size_t i; \
        (void)start; \
        for (i = 0; i < count; i++) { \
            if (NAME##_Init(&hash, 8 * SIZE) || NAME##_Update(&hash, in + i * each, each) || \
                NAME##_Final(&hash, out + i * SIZE)) \
                return 1; \
        } \
        return 0; \
    }

RUN(Skein_256, 32)
RUN(Skein_512, 64)
RUN(Skein1024, 128)

#define PEERS(CIPHER, NAME) \
    {CIPHER, "hash", #NAME "_Update", 1, init, NAME##_run, free}, \
    {CIPHER "_8", "hash", #NAME "_Update", 8, init, NAME##_run, free}

static const peer peers[] = {
    PEERS("skein256", Skein_256),
    PEERS("skein512", Skein_512),
    PEERS("skein1024", Skein1024),
};

PEER_LIST(peers)
