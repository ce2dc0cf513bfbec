/* Random keys, lengths, offsets and positions against properties of every cipher: backends agree,
   calls in place and apart agree, pieces agree with the whole, and decryption inverts encryption.
   Buffers end where the data ends, so that a sanitizer detects every byte beyond.

       #define COMMON(name) usuba_aes_##name
       #include "fuzz.h"
       KEYED(aes128, 16)   BLOCK(aes128, 16)   WIDE(aes128)
       int main(int count, char **words) { ... }

   The file that includes this one is written by the tests. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint64_t next(void)
{
    uint64_t word = state += 0x9e3779b97f4a7c15ULL;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ word >> 27) * 0x94d049bb133111ebULL;
    return word ^ word >> 31;
}

static size_t below(size_t bound)
{
    return (size_t)(next() % bound);
}

/* Short ones as often as long ones. */
static size_t some_length(size_t most)
{
    const size_t bounds[] = {2, 40, 300, 5000};
    const size_t bound = bounds[below(4)];
    return below(bound < most ? bound : most);
}

static void fill(uint8_t *to, size_t length)
{
    while (length--) *to++ = (uint8_t)next();
}

/* `length` bytes at the end of their allocation, at any alignment. */
typedef struct {
    uint8_t *whole, *at;
} place;

static place make(size_t length)
{
    const size_t offset = below(64);
    place new_place;
    new_place.whole = (uint8_t *)malloc(offset + length + !(offset + length));
    if (!new_place.whole) exit(3);
    new_place.at = new_place.whole + offset;
    fill(new_place.at, length);
    return new_place;
}

static place copy(place from, size_t length)
{
    place to = make(length);
    memcpy(to.at, from.at, length);
    return to;
}

static void expect(int holds, const char *what, const char *name, size_t length)
{
    if (holds) return;
    printf("%s: %s, %lu bytes, state %llu\n", name, what, (unsigned long)length,
           (unsigned long long)state);
    exit(1);
}

static void any_backend(void)
{
    size_t count = 0;
    while (COMMON(backends)(count)) count++;
    expect(!COMMON(force_backend)(COMMON(backends)(below(count))), "backend", "force", 0);
}

/* `name_fuzz_key()`: a context on the heap from random bytes. */
#define KEYED(name, bytes) \
    static usuba_##name##_key *name##_fuzz_key(void) \
    { \
        place key = make(bytes); \
        usuba_##name##_key *context = (usuba_##name##_key *)malloc(sizeof *context); \
        if (!context) exit(3); \
        expect(!usuba_##name##_init(context, key.at, bytes), "init", #name, 0); \
        free(key.whole); \
        return context; \
    }

/* The keystream `add`, whose start has `bytes` bytes. */
#define STREAM(name, add, make_stream, bytes) \
    static void name##_fuzz_stream(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        const size_t length = some_length(40000), cut = below(length + 1); \
        const uint64_t position = below(300); \
        place start = make(bytes), text = make(length), one = make(length), two; \
        size_t i; \
        start.at[0] &= 0x7f; \
        two = copy(text, length); \
        any_backend(); \
        expect(!usuba_##name##_##add(key, start.at, position, text.at, one.at, length), \
               "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_##add(key, start.at, position, two.at, two.at, cut), \
               "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_##add(key, start.at, position + cut, two.at + cut, two.at + cut, \
                                     length - cut), "status", #name, length); \
        expect(!memcmp(one.at, two.at, length), "in parts and in place", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_##make_stream(key, start.at, position, two.at, length), \
               "status", #name, length); \
        for (i = 0; i < length; i++) two.at[i] ^= text.at[i]; \
        expect(!memcmp(one.at, two.at, length), "key stream", #name, length); \
        COMMON(wipe)(key, sizeof *key); \
        free(key); \
        free(start.whole); \
        free(text.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* Blocks of `size` bytes, both ways. */
#define INVERSE(name, size) \
    static void name##_fuzz_inverse(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        const size_t count = some_length(40000) / (size), length = count * (size); \
        place text = make(length), one = make(length); \
        any_backend(); \
        expect(!usuba_##name##_encrypt_blocks(key, text.at, one.at, count), "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_decrypt_blocks(key, one.at, one.at, count), "status", #name, length); \
        expect(!memcmp(text.at, one.at, length), "there and back", #name, length); \
        free(key); \
        free(text.whole); \
        free(one.whole); \
    }

/* CBC and XTS. */
#define WIDE(name) \
    static void name##_fuzz_wide(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(), *other = name##_fuzz_key(); \
        const size_t length = 16 + some_length(40000), whole = length / 16 * 16; \
        place start = make(16), text = make(length), one = make(length), two = copy(text, length); \
        size_t i; \
        any_backend(); \
        expect(!usuba_##name##_xts_encrypt(key, other, start.at, two.at, two.at, length), \
               "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_xts_decrypt(key, other, start.at, two.at, one.at, length), \
               "status", #name, length); \
        expect(!memcmp(text.at, one.at, length), "XTS there and back", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_cbc_decrypt(key, start.at, text.at, one.at, whole), \
               "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_decrypt_blocks(key, text.at, two.at, whole / 16), \
               "status", #name, length); \
        for (i = 0; i < whole; i++) two.at[i] ^= i < 16 ? start.at[i] : text.at[i - 16]; \
        expect(!memcmp(one.at, two.at, whole), "CBC", #name, length); \
        free(key); \
        free(other); \
        free(start.whole); \
        free(text.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* States of `size` bytes. */
#define PERMUTATION(name, size) \
    static void name##_fuzz_permutation(void) \
    { \
        const size_t count = some_length(40000) / (size), length = count * (size); \
        place one = make(length), two = copy(one, length); \
        any_backend(); \
        expect(!usuba_##name##_permute(one.at, count), "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_permute(two.at, count), "status", #name, length); \
        expect(!memcmp(one.at, two.at, length), "backends", #name, length); \
        free(one.whole); \
        free(two.whole); \
    }

/* Counter-in-tweak mode of a cipher with blocks of `size` and tweaks of `bytes`. */
#define TWEAKABLE(name, size, bytes) \
    static void name##_fuzz_tweakable(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        const size_t length = some_length(40000), cut = below(length + 1); \
        const uint64_t position = below(300); \
        place start = make(size), tweak = make(bytes), text = make(length), one = make(length); \
        place two = copy(text, length); \
        size_t i; \
        tweak.at[0] &= 0x7f; \
        tweak.at[(bytes) - 1] &= 0x7f; \
        any_backend(); \
        expect(!usuba_##name##_ctrt(key, start.at, tweak.at, position, text.at, one.at, length), \
               "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_ctrt(key, start.at, tweak.at, position, two.at, two.at, cut), \
               "status", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_ctrt(key, start.at, tweak.at, position + cut, two.at + cut, \
                                    two.at + cut, length - cut), "status", #name, length); \
        expect(!memcmp(one.at, two.at, length), "in parts and in place", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_ctrt_keystream(key, start.at, tweak.at, position, two.at, length), \
               "status", #name, length); \
        for (i = 0; i < length; i++) two.at[i] ^= text.at[i]; \
        expect(!memcmp(one.at, two.at, length), "key stream", #name, length); \
        free(key); \
        free(start.whole); \
        free(tweak.whole); \
        free(text.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* Blocks of `size` bytes behind their tweaks of `bytes`, both ways. */
#define INVERSE_TWEAKED(name, bytes, size) \
    static void name##_fuzz_inverse(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        const size_t both = (bytes) + (size), count = some_length(40000) / both; \
        place text = make(count * both), one = make(count * (size)), two = copy(text, count * both); \
        size_t i; \
        any_backend(); \
        expect(!usuba_##name##_encrypt_blocks(key, text.at, one.at, count), "status", #name, count); \
        for (i = 0; i < count; i++) memcpy(two.at + i * both + (bytes), one.at + i * (size), size); \
        any_backend(); \
        expect(!usuba_##name##_decrypt_blocks(key, two.at, one.at, count), "status", #name, count); \
        for (i = 0; i < count; i++) \
            expect(!memcmp(text.at + i * both + (bytes), one.at + i * (size), size), \
                   "there and back", #name, count); \
        free(key); \
        free(text.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* Keystreams with a state and a nonce of `bytes`. */
#define RUNNING(name, bytes) \
    static void name##_fuzz_running(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        const size_t length = some_length(5000), count = 1 + below(70); \
        place starts = make(count * (bytes)), many = make(count * length), text = make(length); \
        place one = make(length); \
        const size_t at = below(count); \
        size_t done = 0, i; \
        usuba_##name##_state *run = (usuba_##name##_state *)malloc(sizeof *run); \
        if (!run) exit(3); \
        any_backend(); \
        expect(!usuba_##name##_keystreams(key, starts.at, count, many.at, length), "status", #name, \
               length); \
        any_backend(); \
        expect(!usuba_##name##_begin(run, key, starts.at + at * (bytes)), "status", #name, length); \
        while (done < length) { \
            const size_t part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_##name##_xor(run, text.at + done, one.at + done, part), "status", #name, \
                   length); \
            done += part; \
        } \
        for (i = 0; i < length; i++) one.at[i] ^= text.at[i]; \
        expect(!memcmp(one.at, many.at + at * length, length), "side by side", #name, length); \
        COMMON(wipe)(run, sizeof *run); \
        free(run); \
        free(key); \
        free(starts.whole); \
        free(many.whole); \
        free(text.whole); \
        free(one.whole); \
    }

/* Blocks of `from` bytes that become `to` bytes, at once and in two parts. `BEGIN` declares the
   argument `FIRST`, and `END` frees it. */
#define ANY_BLOCKS(function, from, to, BEGIN, FIRST, END) \
    static void function##_fuzz_blocks(void) \
    { \
        const size_t count = some_length(40000) / (from), cut = below(count + 1); \
        place text = make(count * (from)), again = copy(text, count * (from)); \
        place one = make(count * (to)), two = make(count * (to)); \
        BEGIN \
        any_backend(); \
        expect(!usuba_##function##_blocks(FIRST text.at, one.at, count), "status", #function, count); \
        any_backend(); \
        expect(!usuba_##function##_blocks(FIRST again.at, two.at, cut), "status", #function, count); \
        any_backend(); \
        expect(!usuba_##function##_blocks(FIRST again.at + cut * (from), two.at + cut * (to), \
                                          count - cut), "status", #function, count); \
        expect(!memcmp(one.at, two.at, count * (to)), "in parts", #function, count); \
        END \
        free(text.whole); \
        free(again.whole); \
        free(one.whole); \
        free(two.whole); \
    }

#define FUZZ_KEY key,
#define FUZZ_NOTHING
#define KEYED_BLOCKS(name, function, from, to) \
    ANY_BLOCKS(function, from, to, usuba_##name##_key *key = name##_fuzz_key();, FUZZ_KEY, free(key);)
#define UNKEYED_BLOCKS(function, from, to) \
    ANY_BLOCKS(function, from, to, FUZZ_NOTHING, FUZZ_NOTHING, FUZZ_NOTHING)

/* Skein with blocks of `size` bytes: pieces, trees, many messages and endless outputs. */
#define SKEIN(name, size) \
    static void name##_fuzz_hash(void) \
    { \
        const size_t length = some_length(5000), count = below(40), out_length = 1 + below(300); \
        place text = make(length), keys = make(40), many = make(count * out_length); \
        place one = make(out_length), two = copy(one, out_length); \
        const uint8_t *in[40]; \
        size_t lengths[40], done = 0, i; \
        const uint64_t bits = length ? 8 * (uint64_t)length - below(8) : 0; \
        usuba_##name##_state *run = (usuba_##name##_state *)malloc(sizeof *run); \
        usuba_##name##_tree *tree = (usuba_##name##_tree *)malloc(sizeof *tree); \
        usuba_skein_parameters p; \
        if (!run || !tree) exit(3); \
        memset(&p, 0, sizeof p); \
        if (below(2)) { \
            p.key = keys.at; \
            p.key_length = below(41); \
        } \
        if (below(2)) { \
            p.nonce = keys.at; \
            p.nonce_length = below(41); \
        } \
        any_backend(); \
        expect(!usuba_##name##_hash_bits(&p, text.at, bits, one.at, out_length), "status", #name, \
               length); \
        any_backend(); \
        expect(!usuba_##name##_begin(run, &p, out_length), "status", #name, length); \
        while (done < length) { \
            const size_t part = 1 + below(length - done); \
            any_backend(); \
            expect(!(done + part < length \
                         ? usuba_##name##_update(run, text.at + done, part) \
                         : usuba_##name##_update_bits(run, text.at + done, bits - 8 * done)), \
                   "status", #name, length); \
            done += part; \
        } \
        expect(!usuba_##name##_final(run, two.at, out_length), "status", #name, length); \
        expect(!memcmp(one.at, two.at, out_length), "pieces", #name, length); \
        for (i = 0; i < count; i++) { \
            const size_t from = below(length + 1); \
            in[i] = text.at + from; \
            lengths[i] = below(length - from + 1); \
        } \
        any_backend(); \
        expect(!usuba_##name##_hash_many(&p, in, lengths, count, many.at, out_length), "status", \
               #name, length); \
        for (i = 0; i < count; i += 1 + below(10)) { \
            any_backend(); \
            expect(!usuba_##name##_hash(&p, in[i], lengths[i], two.at, out_length), "status", #name, \
                   length); \
            expect(!memcmp(many.at + i * out_length, two.at, out_length), "many", #name, length); \
        } \
        expect(!usuba_##name##_begin(run, &p, USUBA_SKEIN_ENDLESS), "status", #name, length); \
        memcpy(tree, run, sizeof *run); \
        expect(!usuba_##name##_final(run, one.at, out_length), "status", #name, length); \
        memcpy(run, tree, sizeof *run); \
        for (done = 0; done < out_length; done += i) { \
            i = 1 + below(out_length - done); \
            any_backend(); \
            expect(!usuba_##name##_squeeze(run, two.at + done, i), "status", #name, length); \
        } \
        expect(!memcmp(one.at, two.at, out_length), "endless", #name, length); \
        p.leaf = (uint8_t)(1 + below(3)); \
        p.fan_out = (uint8_t)(1 + below(3)); \
        p.height = (uint8_t)(2 + below(4)); \
        any_backend(); \
        expect(!usuba_##name##_hash_bits(&p, text.at, bits, one.at, out_length), "status", #name, \
               length); \
        expect(!usuba_##name##_tree_begin(tree, &p, out_length), "status", #name, length); \
        for (done = 0; done < length; done += i) { \
            i = 1 + below(length - done); \
            any_backend(); \
            expect(!(done + i < length \
                         ? usuba_##name##_tree_update(tree, text.at + done, i) \
                         : usuba_##name##_tree_update_bits(tree, text.at + done, bits - 8 * done)), \
                   "status", #name, length); \
        } \
        expect(!usuba_##name##_tree_final(tree, two.at, out_length), "status", #name, length); \
        expect(!memcmp(one.at, two.at, out_length), "tree", #name, length); \
        if (bits % 8 == 0) { \
            any_backend(); \
            expect(!usuba_##name##_check(&p, text.at, length, one.at, out_length), "tag", #name, \
                   length); \
            one.at[below(out_length)] ^= (uint8_t)(1u << below(8)); \
            expect(usuba_##name##_check(&p, text.at, length, one.at, out_length) \
                       == USUBA_ERROR_FORGED, "tag", #name, length); \
        } \
        free(run); \
        free(tree); \
        free(text.whole); \
        free(keys.whole); \
        free(one.whole); \
        free(two.whole); \
        free(many.whole); \
    }

/* A hash function with hashes of `bytes`: pieces, and many messages. */
#define HASH(name, bytes) \
    static void name##_fuzz_hash(void) \
    { \
        const size_t length = some_length(5000), count = below(40); \
        place text = make(length), many = make(count * (bytes)); \
        place one = make(bytes), two = copy(one, bytes); \
        const uint8_t *in[40]; \
        size_t lengths[40], done, part, i; \
        usuba_##name##_state *run = (usuba_##name##_state *)malloc(sizeof *run); \
        if (!run) exit(3); \
        any_backend(); \
        expect(!usuba_##name##_hash(text.at, length, one.at), "status", #name, length); \
        expect(!usuba_##name##_begin(run), "status", #name, length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_##name##_update(run, text.at + done, part), "status", #name, length); \
        } \
        expect(!usuba_##name##_final(run, two.at), "status", #name, length); \
        expect(!memcmp(one.at, two.at, bytes), "pieces", #name, length); \
        for (i = 0; i < count; i++) { \
            const size_t from = below(length + 1); \
            in[i] = text.at + from; \
            lengths[i] = below(length - from + 1); \
        } \
        any_backend(); \
        expect(!usuba_##name##_hash_many(in, lengths, count, many.at), "status", #name, length); \
        for (i = 0; i < count; i += 1 + below(10)) { \
            expect(!usuba_##name##_hash(in[i], lengths[i], two.at), "status", #name, length); \
            expect(!memcmp(many.at + i * (bytes), two.at, bytes), "many", #name, length); \
        } \
        free(run); \
        free(text.whole); \
        free(many.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* HMAC with a hash function with blocks of `size` bytes and hashes of `bytes`. */
#define HMAC(name, size, bytes) \
    static void name##_fuzz_macs(void) \
    { \
        const size_t length = some_length(5000); \
        const size_t key_length = below(3 * (size)), cut = (bytes) / 2 + below((bytes) / 2 + 1); \
        place text = make(length), key = make(key_length), one = make(bytes); \
        size_t done, part; \
        usuba_hmac_##name##_state *mac = (usuba_hmac_##name##_state *)malloc(sizeof *mac); \
        if (!mac) exit(3); \
        any_backend(); \
        expect(!usuba_hmac_##name##_tag(key.at, key_length, text.at, length, one.at), "status", \
               #name, length); \
        expect(!usuba_hmac_##name##_begin(mac, key.at, key_length), "status", #name, length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_hmac_##name##_update(mac, text.at + done, part), "status", #name, length); \
        } \
        expect(!usuba_hmac_##name##_verify(mac, one.at, cut), "tag", #name, length); \
        one.at[below(cut)] ^= (uint8_t)(1 << below(8)); \
        expect(usuba_hmac_##name##_check(key.at, key_length, text.at, length, one.at, cut) \
                   == USUBA_ERROR_FORGED, "forged", #name, length); \
        free(mac); \
        free(text.whole); \
        free(key.whole); \
        free(one.whole); \
    }

/* A message authentication code of a block cipher: pieces, and many messages. */
#define CODE(name) \
    static void name##_fuzz_code(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        usuba_##name##_state *state = (usuba_##name##_state *)malloc(sizeof *state); \
        const size_t count = below(40), cut = 8 + below(9), length = some_length(2000); \
        place texts[40], text = make(length), one = make(16), tags = make(16 * count); \
        place same = copy(text, length); \
        const uint8_t *in[40]; \
        size_t lengths[40], done, part, i; \
        if (!state) exit(3); \
        for (i = 0; i < count; i++) { \
            lengths[i] = some_length(300); \
            in[i] = (texts[i] = make(lengths[i])).at; \
        } \
        any_backend(); \
        expect(!usuba_##name##_tag_many(key, in, lengths, count, tags.at), "status", #name, count); \
        for (i = 0; i < count; i++) { \
            any_backend(); \
            expect(!usuba_##name##_check(key, in[i], lengths[i], tags.at + 16 * i, cut), "tag", \
                   #name, lengths[i]); \
        } \
        expect(!usuba_##name##_tag(key, text.at, length, one.at), "status", #name, length); \
        expect(!usuba_##name##_begin(state), "status", #name, length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_##name##_update(state, key, text.at + done, part), "status", #name, \
                   length); \
        } \
        expect(!usuba_##name##_verify(state, key, one.at, cut), "tag", #name, length); \
        one.at[below(cut)] ^= (uint8_t)(1 << below(8)); \
        expect(usuba_##name##_check(key, text.at, length, one.at, cut) == USUBA_ERROR_FORGED, \
               "forged", #name, length); \
        expect(!memcmp(text.at, same.at, length), "message", #name, length); \
        for (i = 0; i < count; i++) free(texts[i].whole); \
        free(same.whole); \
        free(text.whole); \
        free(one.whole); \
        free(tags.whole); \
        free(state); \
        free(key); \
    }

/* HKDF of a hash function with hashes of `bytes`. */
#define HKDF(name, bytes) \
    static void name##_fuzz_keys(void) \
    { \
        const size_t length = some_length(5000), key_length = below(300), out_length = below(300); \
        const size_t part = out_length < (bytes) ? out_length : (bytes); \
        place text = make(length), key = make(key_length), keys = make(out_length); \
        place one = make(bytes), two = make(bytes); \
        any_backend(); \
        expect(!usuba_hkdf_##name##_derive(key.at, key_length, text.at, length, one.at, bytes, \
                                           keys.at, out_length), "status", #name, length); \
        expect(!usuba_hkdf_##name##_extract(key.at, key_length, text.at, length, two.at), "status", \
               #name, length); \
        expect(!usuba_hkdf_##name##_expand(two.at, bytes, one.at, bytes, two.at, part), "status", \
               #name, length); \
        expect(!memcmp(keys.at, two.at, part), "derived keys", #name, length); \
        free(text.whole); \
        free(key.whole); \
        free(one.whole); \
        free(two.whole); \
        free(keys.whole); \
    }

/* The parameters of an output of any length, before and behind other arguments. */
#define FUZZ_PLAIN
#define FUZZ_NAMED key.at, key_length, key.at, key_length / 2,
#define FUZZ_NAMED_BEHIND , key.at, key_length, key.at, key_length / 2
#define FUZZ_CUSTOM key.at, key_length % 257,
#define FUZZ_CUSTOM_BEHIND , key.at, key_length % 257
#define FUZZ_DOMAIN (uint8_t)(1 + key_length % 0x7f),
#define FUZZ_DOMAIN_BEHIND , (uint8_t)(1 + key_length % 0x7f)

/* An output of any length: pieces of message and output, and many messages. */
#define XOF(name, before, behind) \
    static void name##_fuzz_hash(void) \
    { \
        const size_t length = some_length(5000), count = below(40), out_length = 1 + below(700); \
        const size_t key_length = 1 + below(400); \
        place text = make(length), key = make(key_length), many = make(count * out_length); \
        place one = make(out_length), two = copy(one, out_length); \
        const uint8_t *in[40]; \
        size_t lengths[40], done, part, i; \
        usuba_##name##_state *run = (usuba_##name##_state *)malloc(sizeof *run); \
        if (!run) exit(3); \
        any_backend(); \
        expect(!usuba_##name##_xof(before text.at, length, one.at, out_length), "status", #name, \
               length); \
        expect(!usuba_##name##_begin(run behind), "status", #name, length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_##name##_update(run, text.at + done, part), "status", #name, length); \
        } \
        for (done = 0; done < out_length; done += part) { \
            part = 1 + below(out_length - done); \
            any_backend(); \
            expect(!usuba_##name##_squeeze(run, two.at + done, part), "status", #name, length); \
        } \
        expect(!memcmp(one.at, two.at, out_length), "pieces", #name, length); \
        for (i = 0; i < count; i++) { \
            const size_t from = below(length + 1); \
            in[i] = text.at + from; \
            lengths[i] = below(length - from + 1); \
        } \
        any_backend(); \
        expect(!usuba_##name##_hash_many(before in, lengths, count, many.at, out_length), "status", \
               #name, length); \
        for (i = 0; i < count; i += 1 + below(10)) { \
            expect(!usuba_##name##_xof(before in[i], lengths[i], two.at, out_length), "status", \
                   #name, length); \
            expect(!memcmp(many.at + i * out_length, two.at, out_length), "many", #name, length); \
        } \
        free(run); \
        free(text.whole); \
        free(key.whole); \
        free(many.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* Messages of one length side by side, with blocks of `size` bytes. */
#define LANES(name, size) \
    static void name##_fuzz_lanes(void) \
    { \
        const size_t length = some_length(2000), count = 1 + below(8), blocks = below(4); \
        const size_t out_length = blocks * (size) + below(size); \
        place text[8], out[8], one = make(out_length); \
        const uint8_t *in[8]; \
        uint8_t *to[8]; \
        size_t done, part, i; \
        usuba_##name##_lanes *lanes = (usuba_##name##_lanes *)malloc(sizeof *lanes); \
        if (!lanes) exit(3); \
        for (i = 0; i < count; i++) { \
            text[i] = make(length); \
            out[i] = make(out_length); \
            in[i] = text[i].at; \
            to[i] = out[i].at; \
        } \
        any_backend(); \
        expect(!usuba_##name##_many(in, length, to, out_length, count), "status", #name, length); \
        for (i = 0; i < count; i++) { \
            expect(!usuba_##name##_xof(in[i], length, one.at, out_length), "status", #name, length); \
            expect(!memcmp(one.at, to[i], out_length), "many", #name, length); \
        } \
        expect(!usuba_##name##_many_begin(lanes, count), "status", #name, length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_##name##_many_absorb(lanes, in, count, part), "status", #name, length); \
            for (i = 0; i < count; i++) in[i] += part; \
        } \
        for (done = 0; done < blocks; done++) { \
            any_backend(); \
            expect(!usuba_##name##_many_squeeze_blocks(lanes, to, count, 1), "status", #name, length); \
            for (i = 0; i < count; i++) to[i] += size; \
        } \
        for (i = 0; i < count; i++) { \
            expect(!usuba_##name##_xof(text[i].at, length, one.at, out_length), "status", #name, \
                   length); \
            expect(!memcmp(one.at, out[i].at, out_length), "lanes", #name, length); \
            free(text[i].whole); \
            free(out[i].whole); \
        } \
        free(lanes); \
        free(one.whole); \
    }

/* KMAC: pieces, tags and outputs of any length. */
#define KMAC(name) \
    static void name##_fuzz_hash(void) \
    { \
        const size_t length = some_length(5000), key_length = below(400), out_length = 4 + below(400); \
        const size_t custom = key_length / 2; \
        place text = make(length), key = make(key_length); \
        place one = make(out_length), two = copy(one, out_length); \
        size_t done, part; \
        usuba_##name##_state *run = (usuba_##name##_state *)malloc(sizeof *run); \
        if (!run) exit(3); \
        any_backend(); \
        expect(!usuba_##name##_tag(key.at, key_length, key.at, custom, text.at, length, one.at, \
                                   out_length), "status", #name, length); \
        expect(!usuba_##name##_begin(run, key.at, key_length, key.at, custom), "status", #name, \
               length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_##name##_update(run, text.at + done, part), "status", #name, length); \
        } \
        expect(!usuba_##name##_verify(run, one.at, out_length), "tag", #name, length); \
        one.at[below(out_length)] ^= (uint8_t)(1u << below(8)); \
        any_backend(); \
        expect(usuba_##name##_check(key.at, key_length, key.at, custom, text.at, length, one.at, \
                                    out_length) == USUBA_ERROR_FORGED, "forged", #name, length); \
        expect(!usuba_##name##_xof_begin(run, key.at, key_length, key.at, custom), "status", #name, \
               length); \
        expect(!usuba_##name##_update(run, text.at, length), "status", #name, length); \
        expect(!usuba_##name##_squeeze(run, one.at, out_length), "status", #name, length); \
        expect(!usuba_##name##_xof_begin(run, key.at, key_length, key.at, custom), "status", #name, \
               length); \
        expect(!usuba_##name##_update(run, text.at, length), "status", #name, length); \
        for (done = 0; done < out_length; done += part) { \
            part = 1 + below(out_length - done); \
            any_backend(); \
            expect(!usuba_##name##_squeeze(run, two.at + done, part), "status", #name, length); \
        } \
        expect(!memcmp(one.at, two.at, out_length), "output", #name, length); \
        free(run); \
        free(text.whole); \
        free(key.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* Trees of leaves of 8192 bytes: pieces of message and output. */
#define KANGAROO(name) \
    static void name##_fuzz_hash(void) \
    { \
        const size_t length = below(4) ? some_length(5000) : below(400000); \
        const size_t custom_length = some_length(5000), out_length = below(700); \
        place text = make(length), custom = make(custom_length); \
        place one = make(out_length), two = copy(one, out_length); \
        size_t done, part; \
        usuba_##name##_state *run = (usuba_##name##_state *)malloc(sizeof *run); \
        if (!run) exit(3); \
        any_backend(); \
        expect(!usuba_##name##_hash(text.at, length, custom.at, custom_length, one.at, out_length), \
               "status", #name, length); \
        expect(!usuba_##name##_begin(run), "status", #name, length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_##name##_update(run, text.at + done, part), "status", #name, length); \
        } \
        expect(!usuba_##name##_final(run, custom.at, custom_length), "status", #name, length); \
        for (done = 0; done < out_length; done += part) { \
            part = 1 + below(out_length - done); \
            any_backend(); \
            expect(!usuba_##name##_squeeze(run, two.at + done, part), "status", #name, length); \
        } \
        expect(!memcmp(one.at, two.at, out_length), "pieces", #name, length); \
        free(run); \
        free(text.whole); \
        free(custom.whole); \
        free(one.whole); \
        free(two.whole); \
    }

#define FUZZ_DATA data.at, data_length,

/* Authenticated encryption with nonces of `bytes`, tags of `tag` and `before` bytes before the ciphertext, where
   `DATA` passes the data if there are any: apart, in place, detached and forged. */
#define SEAL(name, bytes, tag, before, DATA) \
    static void name##_fuzz_seal(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        const size_t length = some_length(40000), data_length = below(100); \
        place start = make(bytes), data = make(data_length), text = make(length); \
        place one = make(length + (tag)), two = make(length + (tag)), three = copy(text, length); \
        size_t bit = below(8 * (length + (tag))), i; \
        memcpy(two.at + (before), text.at, length); \
        any_backend(); \
        expect(!usuba_##name##_seal(key, start.at, DATA text.at, length, one.at), "status", #name, \
               length); \
        any_backend(); \
        expect(!usuba_##name##_seal(key, start.at, DATA two.at + (before), length, two.at), \
               "status", #name, length); \
        expect(!memcmp(one.at, two.at, length + (tag)), "in place", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_seal_detached(key, start.at, DATA text.at, length, two.at, \
                                             two.at + length), "status", #name, length); \
        expect(!memcmp(one.at + (before), two.at, length), "detached", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_open_detached(key, start.at, DATA two.at, length, two.at + length, \
                                             two.at), "status", #name, length); \
        expect(!memcmp(text.at, two.at, length), "opened in place", #name, length); \
        one.at[bit / 8] ^= (uint8_t)(1 << bit % 8); \
        for (i = 0; i < length; i++) three.at[i] = 7; \
        any_backend(); \
        expect(usuba_##name##_open(key, start.at, DATA one.at, length + (tag), three.at) \
                   == USUBA_ERROR_FORGED, "forged", #name, length); \
        for (i = 0; i < length; i++) expect(three.at[i] == 7, "nothing written", #name, length); \
        one.at[bit / 8] ^= (uint8_t)(1 << bit % 8); \
        any_backend(); \
        expect(!usuba_##name##_open(key, start.at, DATA one.at, length + (tag), three.at), "status", \
               #name, length); \
        expect(!memcmp(text.at, three.at, length), "opened", #name, length); \
        free(key); \
        free(start.whole); \
        free(data.whole); \
        free(text.whole); \
        free(one.whole); \
        free(two.whole); \
        free(three.whole); \
    }

/* A message in segments, with nonces of `bytes` and tags of `tag`: the first ones together, one of which
   is forged, and a last one. */
#define SEGMENTS(name, bytes, tag) \
    static void name##_fuzz_segments(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        usuba_##name##_stream to, from; \
        const size_t segment = 1 + some_length(3000), count = 1 + below(40); \
        const size_t each = segment + (tag), bit = below(8 * each * count), length = below(100); \
        place start = make((bytes) - 5), text = make(segment * count), last = make(length); \
        place sealed = make(each * count), opened = copy(text, segment * count); \
        place one = make(length + (tag)), two = make(length); \
        size_t done = 0, i; \
        any_backend(); \
        expect(!usuba_##name##_stream_begin(&to, start.at), "status", #name, count); \
        expect(!usuba_##name##_stream_begin(&from, start.at), "status", #name, count); \
        expect(!usuba_##name##_stream_seal_many(&to, key, text.at, segment, count, sealed.at), \
               "status", #name, count); \
        expect(!usuba_##name##_stream_seal(&to, key, 1, last.at, length, last.at, length, one.at), \
               "status", #name, length); \
        sealed.at[bit / 8] ^= (uint8_t)(1 << bit % 8); \
        any_backend(); \
        expect(usuba_##name##_stream_open_many(&from, key, sealed.at, segment, count, opened.at, \
                                               &done) == USUBA_ERROR_FORGED, "forged", #name, count); \
        expect(done == bit / 8 / each, "opened", #name, count); \
        for (i = segment * done; i < segment * count; i++) \
            expect(!opened.at[i], "nothing written", #name, count); \
        sealed.at[bit / 8] ^= (uint8_t)(1 << bit % 8); \
        expect(!usuba_##name##_stream_open_many(&from, key, sealed.at + each * done, segment, \
                                                count - done, opened.at + segment * done, &i), \
               "status", #name, count); \
        expect(!memcmp(text.at, opened.at, segment * count), "opened", #name, count); \
        expect(!usuba_##name##_stream_open(&from, key, 1, last.at, length, one.at, length + (tag), \
                                           two.at), "status", #name, length); \
        expect(!memcmp(last.at, two.at, length), "opened", #name, length); \
        expect(!usuba_##name##_stream_finish(&to), "end", #name, length); \
        expect(!usuba_##name##_stream_finish(&from), "end", #name, length); \
        free(key); \
        free(start.whole); \
        free(text.whole); \
        free(last.whole); \
        free(sealed.whole); \
        free(opened.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* A message in pieces with a nonce of any length, its data and its text in two parts each. */
#define PIECES(name, nonce_bytes, tag) \
    static void name##_fuzz_pieces(void) \
    { \
        usuba_##name##_key *key = name##_fuzz_key(); \
        usuba_##name##_state state; \
        const size_t bytes = below(2) ? (nonce_bytes) : 1 + some_length(300); \
        const size_t size = below(2) * some_length(2000); \
        const size_t length = some_length(20000), early = below(size + 1), first = below(length + 1); \
        const size_t bit = below(8 * (length + (tag))); \
        place nonce = make(bytes), data = make(size), text = make(length); \
        place one = make(length + (tag)), two = copy(text, length); \
        size_t i; \
        any_backend(); \
        expect(!usuba_##name##_begin(&state, key, nonce.at, bytes), "status", #name, bytes); \
        expect(!usuba_##name##_data(&state, data.at, early), "status", #name, early); \
        expect(!usuba_##name##_data(&state, data.at + early, size - early), "status", #name, size); \
        expect(!usuba_##name##_encrypt(&state, key, text.at, first, one.at), "status", #name, first); \
        any_backend(); \
        expect(!usuba_##name##_encrypt(&state, key, text.at + first, length - first, one.at + first), \
               "status", #name, length); \
        expect(!usuba_##name##_finish(&state, one.at + length), "status", #name, length); \
        if (bytes == (nonce_bytes)) { \
            expect(!usuba_##name##_open(key, nonce.at, data.at, size, one.at, length + (tag), two.at), \
                   "status", #name, length); \
            expect(!memcmp(text.at, two.at, length), "opened", #name, length); \
        } \
        one.at[bit / 8] ^= (uint8_t)(1 << bit % 8); \
        for (i = 0; i < length; i++) two.at[i] = 7; \
        any_backend(); \
        expect(usuba_##name##_open_whole(key, nonce.at, bytes, data.at, size, one.at, length, \
                                         one.at + length, two.at) == USUBA_ERROR_FORGED, \
               "forged", #name, length); \
        for (i = 0; i < length; i++) expect(two.at[i] == 7, "nothing written", #name, length); \
        one.at[bit / 8] ^= (uint8_t)(1 << bit % 8); \
        expect(!usuba_##name##_open_whole(key, nonce.at, bytes, data.at, size, one.at, length, \
                                          one.at + length, one.at), "status", #name, length); \
        expect(!memcmp(text.at, one.at, length), "opened in place", #name, length); \
        free(key); \
        free(nonce.whole); \
        free(data.whole); \
        free(text.whole); \
        free(one.whole); \
        free(two.whole); \
    }

/* The same of many messages side by side, one of which is forged, and whose data and texts have any
   lengths. */
#define SEAL_MANY(name, bytes) \
    static void name##_fuzz_seals(void) \
    { \
        const size_t count = 1 + below(40), forged = below(count); \
        usuba_##name##_key *keys[40]; \
        const uint8_t *nonces[40], *data[40], *in[40], *sealed[40]; \
        uint8_t *out[40], *opened[40]; \
        size_t data_lengths[40], lengths[40], sizes[40], i; \
        place starts[40], datas[40], texts[40], ones[40], twos[40], one; \
        int results[40]; \
        for (i = 0; i < count; i++) { \
            keys[i] = name##_fuzz_key(); \
            data_lengths[i] = below(2) * some_length(2000); \
            lengths[i] = some_length(20000); \
            sizes[i] = lengths[i] + 16; \
            nonces[i] = (starts[i] = make(bytes)).at; \
            data[i] = (datas[i] = make(data_lengths[i])).at; \
            in[i] = (texts[i] = make(lengths[i])).at; \
            sealed[i] = out[i] = (ones[i] = make(sizes[i])).at; \
            opened[i] = (twos[i] = make(lengths[i])).at; \
        } \
        any_backend(); \
        expect(!usuba_##name##_seal_many((const usuba_##name##_key *const *)keys, nonces, data, \
                                         data_lengths, in, lengths, out, count), \
               "status", #name, count); \
        for (i = 0; i < count; i += 1 + below(5)) { \
            one = make(sizes[i]); \
            any_backend(); \
            expect(!usuba_##name##_seal(keys[i], nonces[i], data[i], data_lengths[i], in[i], \
                                        lengths[i], one.at), "status", #name, lengths[i]); \
            expect(!memcmp(one.at, out[i], sizes[i]), "sealed", #name, lengths[i]); \
            free(one.whole); \
        } \
        out[forged][below(sizes[forged])] ^= (uint8_t)(1 << below(8)); \
        one = copy(twos[forged], lengths[forged]); \
        any_backend(); \
        expect(usuba_##name##_open_many((const usuba_##name##_key *const *)keys, nonces, data, \
                                        data_lengths, sealed, sizes, opened, results, count) \
                   == USUBA_ERROR_FORGED, "status", #name, count); \
        for (i = 0; i < count; i++) { \
            const uint8_t *wanted = i == forged ? one.at : in[i]; \
            expect(results[i] == (i == forged ? USUBA_ERROR_FORGED : USUBA_OK), "result", #name, i); \
            expect(!memcmp(opened[i], wanted, lengths[i]), "opened", #name, lengths[i]); \
            free(keys[i]); \
            free(starts[i].whole); \
            free(datas[i].whole); \
            free(texts[i].whole); \
            free(ones[i].whole); \
            free(twos[i].whole); \
        } \
        free(one.whole); \
    }

/* X25519: both sides agree. Ed25519: a signature is accepted, and not after a bit changed. */
#define CURVE25519 \
    static void curve25519_fuzz(void) \
    { \
        const size_t length = some_length(5000); \
        place one = make(32), two = make(32), seed = make(32), text = make(length); \
        place point = make(32), shared = make(32), other = copy(shared, 32); \
        place public_key = make(32), secret = make(64), signature = make(64); \
        any_backend(); \
        expect(!usuba_x25519_base(one.at, point.at), "status", "x25519_base", 0); \
        expect(!usuba_x25519(two.at, point.at, shared.at), "status", "x25519", 0); \
        any_backend(); \
        expect(!usuba_x25519_base(two.at, point.at), "status", "x25519_base", 0); \
        expect(!usuba_x25519(one.at, point.at, other.at), "status", "x25519", 0); \
        expect(!memcmp(shared.at, other.at, 32), "agreement", "x25519", 0); \
        expect(!usuba_ed25519_keypair_from_seed(seed.at, public_key.at, secret.at), "status", \
               "keypair", 0); \
        expect(!usuba_ed25519_sign(secret.at, text.at, length, signature.at), "status", "sign", \
               length); \
        any_backend(); \
        expect(!usuba_ed25519_verify(public_key.at, text.at, length, signature.at), "status", \
               "verify", length); \
        signature.at[below(64)] ^= (uint8_t)(1 << below(8)); \
        expect(usuba_ed25519_verify(public_key.at, text.at, length, signature.at) \
                   == USUBA_ERROR_FORGED, \
               "forged", "verify", length); \
        free(one.whole); \
        free(two.whole); \
        free(seed.whole); \
        free(text.whole); \
        free(point.whole); \
        free(shared.whole); \
        free(other.whole); \
        free(public_key.whole); \
        free(secret.whole); \
        free(signature.whole); \
    }

/* The one-time authenticator: pieces, backends, forged tags. */
#define POLY1305 \
    static void poly1305_fuzz(void) \
    { \
        const size_t length = some_length(40000); \
        place key = make(32), text = make(length), tag = make(16), other = copy(tag, 16); \
        usuba_poly1305_state *run = (usuba_poly1305_state *)malloc(sizeof *run); \
        size_t done, part; \
        if (!run) exit(3); \
        any_backend(); \
        expect(!usuba_poly1305_tag(key.at, text.at, length, tag.at), "status", "poly1305", length); \
        expect(!usuba_poly1305_begin(run, key.at), "status", "poly1305", length); \
        for (done = 0; done < length; done += part) { \
            part = 1 + below(length - done); \
            any_backend(); \
            expect(!usuba_poly1305_update(run, text.at + done, part), "status", "poly1305", length); \
        } \
        expect(!usuba_poly1305_final(run, other.at), "status", "poly1305", length); \
        expect(!memcmp(tag.at, other.at, 16), "pieces", "poly1305", length); \
        tag.at[below(16)] ^= (uint8_t)(1 << below(8)); \
        any_backend(); \
        expect(usuba_poly1305_check(key.at, text.at, length, tag.at) == USUBA_ERROR_FORGED, \
               "forged", "poly1305", length); \
        free(run); \
        free(key.whole); \
        free(text.whole); \
        free(tag.whole); \
        free(other.whole); \
    }

/* Signatures of hashes of n bytes, in few of the rounds: backends agree, many agree with one, and a
   changed bit is found. */
#define SIGN(name, n, bytes) \
    static void name##_fuzz_sign(void) \
    { \
        const size_t length = some_length(5000), context_length = below(256), many = 1 + below(3); \
        place seed, keys, public_key, text, context, random, one, two, other; \
        const uint8_t *secrets[3], *publics[3], *texts[3], *randoms[3], *places[3]; \
        size_t lengths[3], i; \
        int results[3]; \
        usuba_slh_dsa_work *work; \
        if (below(64)) return; \
        work = (usuba_slh_dsa_work *)malloc(sizeof *work); \
        if (!work) exit(3); \
        seed = make(3 * n); \
        keys = make(4 * n); \
        public_key = make(2 * n); \
        text = make(length); \
        context = make(context_length); \
        random = make(n); \
        one = make(bytes); \
        two = make(many * bytes); \
        other = copy(one, below(bytes)); \
        any_backend(); \
        expect(!usuba_##name##_keypair_from_seed(seed.at, public_key.at, keys.at, work), "status", \
               #name, length); \
        any_backend(); \
        expect(!usuba_##name##_sign_checked(keys.at, context.at, context_length, text.at, length, \
                                            random.at, one.at, work), "status", #name, length); \
        for (i = 0; i < many; i++) { \
            secrets[i] = keys.at; \
            publics[i] = public_key.at; \
            texts[i] = text.at; \
            lengths[i] = length; \
            randoms[i] = random.at; \
            places[i] = two.at + i * bytes; \
        } \
        any_backend(); \
        expect(!usuba_##name##_sign_many(secrets, context.at, context_length, texts, lengths, \
                                         randoms, two.at, many, work), "status", #name, length); \
        for (i = 0; i < many; i++) \
            expect(!memcmp(one.at, places[i], bytes), "many", #name, length); \
        any_backend(); \
        expect(!usuba_##name##_verify_many(publics, context.at, context_length, texts, lengths, \
                                           places, results, many, work), "many", #name, length); \
        two.at[below(many * bytes)] ^= (uint8_t)(1u << below(8)); \
        any_backend(); \
        expect(usuba_##name##_verify_many(publics, context.at, context_length, texts, lengths, \
                                          places, results, many, work) == USUBA_ERROR_FORGED, \
               "forged", #name, length); \
        /* Other lengths are refused before a byte is read. */ \
        expect(usuba_##name##_verify(public_key.at, context.at, context_length, text.at, length, \
                                     other.at, 0, work) == USUBA_ERROR_FORGED, "short", #name, \
               length); \
        free(work); \
        free(seed.whole); \
        free(keys.whole); \
        free(public_key.whole); \
        free(text.whole); \
        free(context.whole); \
        free(random.whole); \
        free(one.whole); \
        free(two.whole); \
        free(other.whole); \
    }
