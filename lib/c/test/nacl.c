/* Random calls of NaCl: valid input is opened; changed, truncated and invented input is rejected
   without output, and so are invalid points and points of small order. The counterpart of fuzz.h,
   which is for the functions with one key.

       cc -fsanitize=address,undefined nacl.c usuba-nacl.c && ./a.out ROUNDS SEED */

#include "usuba-nacl.h"
#define COMMON(name) usuba_nacl_##name
#include "fuzz.h"

#define MOST 1500

void randombytes(unsigned char *bytes, unsigned long long length)
{
    fill(bytes, (size_t)length);
}

static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                  0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                  0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};

/* Coordinates of points of order 8 (RFC 7748, section 7; Hisil and others, by doubling): of the
   Montgomery curve, and y of the Edwards curve. */
static const uint8_t eighth[2][32] = {
    {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
     0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
    {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
     0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05}};

/* 0, 1, p - 1, p, p + 1, or of order 8, each with the highest bit or without. */
static void small_order(uint8_t *to, int edwards)
{
    const size_t which = below(6);
    memset(to, which < 2 ? 0 : 0xff, 32);
    to[31] &= 0x7f;
    if (which < 2) to[0] = (uint8_t)which;
    else to[0] = (uint8_t)(0xec + (which - 2));
    if (which == 5) memcpy(to, eighth[edwards], 32);
    to[31] |= (uint8_t)(below(2) << 7);
}

static int untouched(const uint8_t *bytes, size_t length)
{
    size_t i;
    for (i = 0; i < length; i++)
        if (bytes[i] != 0xa5) return 0;
    return 1;
}

/* Absent buffers and impossible lengths are rejected without output. */
static void misuse(void)
{
    unsigned char b[200] = {0}, zeros[200] = {0};
    unsigned long long count = 0;
    const unsigned long long endless = (unsigned long long)-10;
    expect(crypto_sign(b, &count, 0, 5, b) == -1, "no message", "sign", 5);
    expect(crypto_sign(b, &count, b, 5, 0) == -1, "no key", "sign", 5);
    expect(crypto_sign(0, &count, b, 5, b) == -1, "no place", "sign", 5);
    expect(crypto_sign(b, &count, b, endless, b) == -1, "endless", "sign", 5);
    expect(crypto_sign_open(b, &count, b, 63, b) == -1, "short", "sign_open", 63);
    expect(crypto_sign_open(b, &count, b, 100, 0) == -1, "no key", "sign_open", 100);
    expect(crypto_box(b, b, 31, b, b, b) == -1, "short", "box", 31);
    expect(crypto_secretbox(0, b, 40, b, b) == -1, "no place", "secretbox", 40);
    expect(crypto_secretbox_open(b, b, 40, 0, b) == -1, "no nonce", "secretbox_open", 40);
    expect(crypto_scalarmult(0, b, b) == -1, "no place", "scalarmult", 32);
    expect(crypto_hash(b, 0, 5) == -1, "no message", "hash", 5);
    expect(crypto_stream(0, 5, b, b) == -1, "no place", "stream", 5);
    expect(crypto_verify_16(0, b) == -1, "no bytes", "verify", 16);
    expect(crypto_onetimeauth(b, 0, 5, b) == -1, "no message", "onetimeauth", 5);
    expect(!count && !memcmp(b, zeros, sizeof b), "written", "misuse", 0);
}

/* Boxes, forged and cut ones, and the same in place. */
static void boxes(void)
{
    const size_t length = 32 + some_length(MOST), bit = 128 + below(8 * (length - 16));
    place public_key[2], secret_key[2], key = make(32), nonce = make(24), text = make(length);
    place sealed = make(length), opened = make(length), same;
    size_t i;
    for (i = 0; i < 2; i++) {
        public_key[i] = make(32);
        secret_key[i] = make(32);
        expect(!crypto_box_keypair(public_key[i].at, secret_key[i].at), "status", "keypair", 0);
    }
    memset(text.at, 0, 32);
    same = copy(text, length);
    expect(!crypto_box(sealed.at, text.at, length, nonce.at, public_key[0].at, secret_key[1].at),
           "status", "box", length);
    expect(!crypto_box_beforenm(key.at, public_key[1].at, secret_key[0].at), "status", "beforenm", 0);
    expect(!crypto_box_afternm(same.at, same.at, length, nonce.at, key.at), "status", "afternm", 0);
    expect(!memcmp(same.at, sealed.at, length), "both sides, in place", "box", length);
    memset(opened.at, 0xa5, length);
    sealed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    expect(crypto_box_open_afternm(opened.at, sealed.at, length, nonce.at, key.at) == -1, "changed",
           "box_open", length);
    sealed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    i = below(length);
    expect(crypto_secretbox_open(opened.at, sealed.at, i, nonce.at, key.at) == -1, "cut", "box_open",
           i);
    expect(untouched(opened.at, length), "written", "box_open", length);
    expect(!crypto_box_open(opened.at, sealed.at, length, nonce.at, public_key[1].at,
                            secret_key[0].at), "status", "box_open", length);
    expect(!memcmp(opened.at, text.at, length), "opened", "box_open", length);
    fill(sealed.at, length);
    memset(opened.at, 0xa5, length);
    expect(crypto_box_open_afternm(opened.at, sealed.at, length, nonce.at, key.at) == -1, "made up",
           "box_open", length);
    small_order(key.at, 0);
    expect(crypto_box_open(opened.at, sealed.at, length, nonce.at, key.at, secret_key[0].at) == -1,
           "small order", "box_open", length);
    expect(untouched(opened.at, length), "written", "box_open", length);
    for (i = 0; i < 2; i++) {
        free(public_key[i].whole);
        free(secret_key[i].whole);
    }
    free(key.whole);
    free(nonce.whole);
    free(text.whole);
    free(sealed.whole);
    free(opened.whole);
    free(same.whole);
}

/* Something that is not the signature of a message. */
static void spoil(uint8_t *signature, uint8_t *key, size_t length)
{
    const size_t bit = below(8 * (64 + length));
    unsigned carry = 0;
    size_t i;
    switch (below(6)) {
    case 0: small_order(signature, 1); break;
    case 1: small_order(key, 1); break;
    case 2:
        /* The same number below 2^256, if it fits. */
        for (i = 0; i < 32; i++) {
            carry += (unsigned)signature[32 + i] + order[i];
            signature[32 + i] = (uint8_t)carry;
            carry >>= 8;
        }
        break;
    case 3: fill(signature, 64); break;
    case 4: key[below(32)] ^= (uint8_t)(1 << below(8)); break;
    default: signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* Signed messages, malformed and cut ones. */
static void signatures(void)
{
    const size_t length = some_length(MOST), room = length + 64;
    place public_key = make(32), secret_key = make(64), text = make(length), sealed = make(room);
    place opened = make(room), wrong;
    unsigned long long count = 0;
    size_t cut = below(room);
    expect(!crypto_sign_keypair(public_key.at, secret_key.at), "status", "keypair", 0);
    expect(!crypto_sign(sealed.at, &count, text.at, length, secret_key.at), "status", "sign", length);
    expect(count == room && !memcmp(sealed.at + 64, text.at, length), "length", "sign", length);
    expect(!crypto_sign_open(opened.at, &count, sealed.at, room, public_key.at), "status",
           "sign_open", length);
    expect(count == length && !memcmp(opened.at, text.at, length), "opened", "sign_open", length);
    expect(!crypto_sign_verify_detached(sealed.at, text.at, length, public_key.at), "status",
           "detached", length);
    memset(opened.at, 0xa5, room);
    count = 7;
    expect(crypto_sign_open(opened.at, &count, sealed.at, cut, public_key.at) == -1, "cut",
           "sign_open", cut);
    wrong = copy(sealed, room);
    spoil(wrong.at, public_key.at, length);
    expect(crypto_sign_open(opened.at, &count, wrong.at, room, public_key.at) == -1, "malformed",
           "sign_open", length);
    expect(count == 7 && untouched(opened.at, room), "written", "sign_open", length);
    free(public_key.whole);
    free(secret_key.whole);
    free(text.whole);
    free(sealed.whole);
    free(opened.whole);
    free(wrong.whole);
}

/* Any bytes are a scalar and a point: bits that do not count, other forms, both orders, and none. */
static void points(void)
{
    static const uint8_t nine[32] = {9};
    place one = make(32), other = make(32), point = make(32), a = make(32), b = make(32);
    expect(!crypto_scalarmult_base(a.at, one.at), "status", "base", 32);
    expect(!crypto_scalarmult(b.at, one.at, nine), "status", "scalarmult", 32);
    expect(!memcmp(a.at, b.at, 32), "both ways", "base", 32);
    expect(!crypto_scalarmult(a.at, one.at, point.at), "status", "scalarmult", 32);
    expect(!crypto_scalarmult(b.at, other.at, point.at), "status", "scalarmult", 32);
    expect(!crypto_scalarmult(a.at, other.at, a.at), "status", "scalarmult", 32);
    expect(!crypto_scalarmult(b.at, one.at, b.at), "status", "scalarmult", 32);
    expect(!memcmp(a.at, b.at, 32), "one after the other", "scalarmult", 32);
    one.at[0] ^= (uint8_t)below(8);
    one.at[31] ^= (uint8_t)(below(4) << 6);
    point.at[31] ^= 0x80;
    expect(!crypto_scalarmult(b.at, one.at, point.at), "status", "scalarmult", 32);
    expect(!crypto_scalarmult(b.at, other.at, b.at), "status", "scalarmult", 32);
    expect(!memcmp(a.at, b.at, 32), "bits that do not count", "scalarmult", 32);
    /* A number below 19, and 2^255 - 19 more; 0 and 1 have small orders. */
    memset(point.at, 0, 32);
    point.at[0] = (uint8_t)(2 + below(17));
    expect(!crypto_scalarmult(a.at, one.at, point.at), "status", "scalarmult", 32);
    memset(point.at + 1, 0xff, 30);
    point.at[0] = (uint8_t)(point.at[0] + 0xed);
    point.at[31] = 0x7f;
    expect(!crypto_scalarmult(b.at, one.at, point.at), "status", "scalarmult", 32);
    expect(!memcmp(a.at, b.at, 32), "another form", "scalarmult", 32);
    small_order(point.at, 0);
    memset(a.at, 0xa5, 32);
    expect(crypto_scalarmult(a.at, one.at, point.at) == -1, "small order", "scalarmult", 32);
    expect(untouched(a.at, 32), "written", "scalarmult", 32);
    free(one.whole);
    free(other.whole);
    free(point.whole);
    free(a.whole);
    free(b.whole);
}

/* Streams, hashes and authenticators by their other forms. */
static void streams(void)
{
    const size_t length = some_length(MOST), cut = below(length + 1), whole = length / 128 * 128;
    place key = make(32), nonce = make(24), text = make(length), one = make(length);
    place two = make(length), tag = make(64), state_of = make(64);
    usuba_sha512_state hash;
    size_t i;
    any_backend();
    expect(!crypto_stream(one.at, length, nonce.at, key.at), "status", "stream", length);
    any_backend();
    expect(!crypto_stream_xor(two.at, text.at, length, nonce.at, key.at), "status", "stream", length);
    for (i = 0; i < length; i++) two.at[i] ^= text.at[i];
    expect(!memcmp(one.at, two.at, length), "both forms", "stream", length);
    expect(!crypto_core_hsalsa20(tag.at, nonce.at, key.at, (const uint8_t *)"expand 32-byte k"),
           "status", "core", length);
    expect(!crypto_stream_salsa20(two.at, cut, nonce.at + 16, tag.at), "status", "stream", length);
    expect(!memcmp(one.at, two.at, cut), "by its parts", "stream", length);
    expect(!crypto_hash(tag.at, text.at, length), "status", "hash", length);
    usuba_sha512_begin(&hash);
    usuba_sha512_update(&hash, text.at, cut);
    usuba_sha512_update(&hash, text.at + cut, length - cut);
    usuba_sha512_final(&hash, state_of.at);
    expect(!memcmp(tag.at, state_of.at, 64), "in pieces", "hash", length);
    expect(crypto_hashblocks(state_of.at, text.at, length) == (int)(length - whole), "status",
           "hashblocks", length);
    expect(!crypto_onetimeauth(tag.at, text.at, length, key.at), "status", "onetimeauth", length);
    expect(!crypto_onetimeauth_verify(tag.at, text.at, length, key.at), "status", "onetimeauth",
           length);
    tag.at[below(16)] ^= (uint8_t)(1 << below(8));
    expect(crypto_onetimeauth_verify(tag.at, text.at, length, key.at) == -1, "forged", "onetimeauth",
           length);
    free(key.whole);
    free(nonce.whole);
    free(text.whole);
    free(one.whole);
    free(two.whole);
    free(tag.whole);
    free(state_of.whole);
}

int main(int count, char **words)
{
    long rounds = count > 1 ? atol(words[1]) : 100;
    state = count > 2 ? (uint64_t)atol(words[2]) : 1;
    misuse();
    while (rounds--) {
        boxes();
        signatures();
        points();
        streams();
    }
    return 0;
}
