/* Modes of block ciphers with keys, texts and data that valgrind takes for undefined. Nonces, sealed
   messages and tags are public. FOLDER gives the functions of a folder, MODES are calls of MODE,
   PIECES, SEGMENTS and CODE, and LONGEST is below 20000. */
#include <stdio.h>
#include <stdlib.h>

#include "it.h"

static uint8_t text[20000], sealed[20016], opened[20000];

static void expect(int holds, int line)
{
    if (holds) return;
    printf("line %d\n", line);
    exit(1);
}

#define EXPECT(holds) expect(holds, __LINE__)

/* Calls under a key, of one mode. */
#define MODE(NAME, KEY, TAG) \
    do { \
        usuba_##NAME##_key key; \
        EXPECT(!usuba_##NAME##_init(&key, text, KEY)); \
        for (j = 0; j < sizeof lengths / sizeof lengths[0]; j++) { \
            const size_t length = lengths[j], size = 7 * j, all = length + TAG; \
            EXPECT(!usuba_##NAME##_seal(&key, nonce, text + 32, size, text, length, sealed)); \
            usuba_defined(sealed, all); \
            EXPECT(!usuba_##NAME##_open(&key, nonce, text + 32, size, sealed, all, opened)); \
            sealed[length / 2] ^= 1; \
            EXPECT(usuba_##NAME##_open(&key, nonce, text + 32, size, sealed, all, opened) \
                   == USUBA_ERROR_FORGED); \
        } \
    } while (0)

/* The same of messages in pieces, with nonces of any length. */
#define PIECES(NAME, KEY) \
    do { \
        usuba_##NAME##_key key; \
        usuba_##NAME##_state state; \
        EXPECT(!usuba_##NAME##_init(&key, text, KEY)); \
        for (j = 0; j < sizeof lengths / sizeof lengths[0]; j++) { \
            const size_t length = lengths[j], first = length / 3; \
            uint8_t *tag = sealed + length; \
            EXPECT(!usuba_##NAME##_begin(&state, &key, nonce, 4 * (j + 1))); \
            EXPECT(!usuba_##NAME##_data(&state, text, 5)); \
            EXPECT(!usuba_##NAME##_data(&state, text + 5, 7 * j)); \
            EXPECT(!usuba_##NAME##_encrypt(&state, &key, text, first, sealed)); \
            EXPECT(!usuba_##NAME##_encrypt(&state, &key, text + first, length - first, \
                                           sealed + first)); \
            EXPECT(!usuba_##NAME##_finish(&state, tag)); \
            usuba_defined(sealed, length + 16); \
            EXPECT(!usuba_##NAME##_open_whole(&key, nonce, 4 * (j + 1), text, 5 + 7 * j, sealed, \
                                              length, tag, opened)); \
            sealed[length / 2] ^= 1; \
            EXPECT(usuba_##NAME##_open_whole(&key, nonce, 4 * (j + 1), text, 5 + 7 * j, sealed, \
                                             length, tag, opened) == USUBA_ERROR_FORGED); \
        } \
    } while (0)

/* The same of a message in segments side by side. */
#define SEGMENTS(NAME, KEY, TAG) \
    do { \
        usuba_##NAME##_key key; \
        usuba_##NAME##_stream to, from; \
        size_t good; \
        EXPECT(!usuba_##NAME##_init(&key, text, KEY)); \
        EXPECT(!usuba_##NAME##_stream_begin(&to, nonce)); \
        EXPECT(!usuba_##NAME##_stream_begin(&from, nonce)); \
        EXPECT(!usuba_##NAME##_stream_seal_many(&to, &key, text, 37, 40, sealed)); \
        usuba_defined(sealed, 40 * (37 + TAG)); \
        EXPECT(!usuba_##NAME##_stream_open_many(&from, &key, sealed, 37, 33, opened, &good)); \
        sealed[36 * (37 + TAG)] ^= 1; \
        EXPECT(usuba_##NAME##_stream_open_many(&from, &key, sealed + 33 * (37 + TAG), 37, 7, opened, \
                                               &good) == USUBA_ERROR_FORGED && good == 3); \
    } while (0)

#define CODE(NAME, KEY) \
    do { \
        usuba_##NAME##_key key; \
        EXPECT(!usuba_##NAME##_init(&key, text, KEY)); \
        for (j = 0; j < sizeof lengths / sizeof lengths[0]; j++) { \
            EXPECT(!usuba_##NAME##_tag(&key, text, lengths[j], sealed)); \
            EXPECT(!usuba_##NAME##_tag_many(&key, texts, lengths, 6, opened)); \
            usuba_defined(sealed, 16); \
            EXPECT(!usuba_##NAME##_check(&key, text, lengths[j], sealed, 16)); \
            sealed[j] ^= 1; \
            EXPECT(usuba_##NAME##_check(&key, text, lengths[j], sealed, 16) == USUBA_ERROR_FORGED); \
        } \
    } while (0)

int main(void)
{
    static const uint8_t nonce[24] = {1, 2, 3};
    static const size_t lengths[] = {0, 5, 16, 1008, 1009, LONGEST};
    const uint8_t *texts[6] = {text, text + 1, text + 2, text + 3, text + 4, text};
    size_t i, j;
    (void)nonce;
    (void)texts;
    for (i = 0; i < sizeof text; i++) text[i] = (uint8_t)(77 * i + 5);
    usuba_undefined(text, sizeof text);
    for (i = 0; FOLDER(backends)(i); i++) {
        EXPECT(!FOLDER(force_backend)(FOLDER(backends)(i)));
        MODES;
    }
    return 0;
}
