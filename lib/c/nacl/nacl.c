
/* NaCl's interface. Lengths of NaCl may be longer than memory. */
static int usuba_too_long(usuba_length length)
{
    return length > (size_t)-1;
}

static int usuba_answer(int status)
{
    return status == USUBA_OK ? 0 : -1;
}

/* Bytes that may overlap where they come. */
static void usuba_move(uint8_t *to, const uint8_t *from, size_t length)
{
    size_t i;
    if ((uintptr_t)to <= (uintptr_t)from)
        for (i = 0; i < length; i++) to[i] = from[i];
    else
        for (i = length; i--;) to[i] = from[i];
}

/* What boxes and secret boxes have before their messages. */
#define USUBA_ZEROS 32
#define USUBA_BOX_ZEROS 16

int usuba_box_init(usuba_xsalsa20poly1305_key *key, const uint8_t public_key[32],
    const uint8_t secret_key[32])
{
    uint8_t shared[32];
    int status;
    if (!key || !public_key || !secret_key) return USUBA_ERROR_NULL;
    if (usuba_crypto_box_beforenm(shared, public_key, secret_key)) return USUBA_ERROR_POINT;
    status = usuba_xsalsa20poly1305_init(key, shared, 32);
    @COMMON@wipe(shared, sizeof shared);
    return status;
}

int usuba_crypto_secretbox(usuba_byte *c, const usuba_byte *m, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key)
{
    usuba_xsalsa20poly1305_key words;
    uint8_t tag[16];
    int status;
    if (!c || !m || length < USUBA_ZEROS || usuba_too_long(length)) return -1;
    status = usuba_xsalsa20poly1305_init(&words, key, 32);
    if (status == USUBA_OK)
        status = usuba_xsalsa20poly1305_seal_detached(&words, nonce, m + USUBA_ZEROS,
            (size_t)length - USUBA_ZEROS, c + USUBA_ZEROS, tag);
    @COMMON@wipe(&words, sizeof words);
    if (status != USUBA_OK) return -1;
    memset(c, 0, USUBA_BOX_ZEROS);
    memcpy(c + USUBA_BOX_ZEROS, tag, 16);
    return 0;
}

int usuba_crypto_secretbox_open(usuba_byte *m, const usuba_byte *c, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key)
{
    usuba_xsalsa20poly1305_key words;
    int status;
    if (!m || !c || length < USUBA_ZEROS || usuba_too_long(length)) return -1;
    status = usuba_xsalsa20poly1305_init(&words, key, 32);
    if (status == USUBA_OK)
        status = usuba_xsalsa20poly1305_open_detached(&words, nonce, c + USUBA_ZEROS,
            (size_t)length - USUBA_ZEROS, c + USUBA_BOX_ZEROS, m + USUBA_ZEROS);
    @COMMON@wipe(&words, sizeof words);
    if (status != USUBA_OK) return -1;
    memset(m, 0, USUBA_ZEROS);
    return 0;
}

/* HSalsa20 of a nonce and the only constant. */
static int usuba_hsalsa20_once(uint8_t *out, const uint8_t *in, const uint8_t *key)
{
    usuba_hsalsa20_key words;
    int status = usuba_hsalsa20_init(&words, key, 32);
    if (status == USUBA_OK) status = usuba_hsalsa20_blocks(&words, in, out, 1);
    @COMMON@wipe(&words, sizeof words);
    return usuba_answer(status);
}

int usuba_crypto_box_beforenm(usuba_byte *key, const usuba_byte *public_key,
    const usuba_byte *secret_key)
{
    static const uint8_t zeros[16] = {0};
    uint8_t shared[32];
    int answer;
    if (!key || usuba_x25519(secret_key, public_key, shared) != USUBA_OK) return -1;
    answer = usuba_hsalsa20_once(key, zeros, shared);
    @COMMON@wipe(shared, sizeof shared);
    return answer;
}

int usuba_crypto_box_afternm(usuba_byte *c, const usuba_byte *m, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key)
{
    return usuba_crypto_secretbox(c, m, length, nonce, key);
}

int usuba_crypto_box_open_afternm(usuba_byte *m, const usuba_byte *c, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key)
{
    return usuba_crypto_secretbox_open(m, c, length, nonce, key);
}

int usuba_crypto_box(usuba_byte *c, const usuba_byte *m, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *public_key, const usuba_byte *secret_key)
{
    uint8_t key[32];
    int answer = usuba_crypto_box_beforenm(key, public_key, secret_key);
    if (!answer) answer = usuba_crypto_secretbox(c, m, length, nonce, key);
    @COMMON@wipe(key, sizeof key);
    return answer;
}

int usuba_crypto_box_open(usuba_byte *m, const usuba_byte *c, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *public_key, const usuba_byte *secret_key)
{
    uint8_t key[32];
    int answer = usuba_crypto_box_beforenm(key, public_key, secret_key);
    if (!answer) answer = usuba_crypto_secretbox_open(m, c, length, nonce, key);
    @COMMON@wipe(key, sizeof key);
    return answer;
}

int usuba_crypto_box_keypair(usuba_byte *public_key, usuba_byte *secret_key)
{
    if (!public_key || !secret_key) return -1;
    randombytes(secret_key, 32);
    return usuba_crypto_scalarmult_base(public_key, secret_key);
}

static int usuba_is_constant(const usuba_byte *c)
{
    static const uint8_t constant[16] = {0x65, 0x78, 0x70, 0x61, 0x6e, 0x64, 0x20, 0x33,
                                         0x32, 0x2d, 0x62, 0x79, 0x74, 0x65, 0x20, 0x6b};
    return c && @COMMON@compare(c, constant, 16) == USUBA_OK;
}

int usuba_crypto_core_salsa20(usuba_byte *out, const usuba_byte *in, const usuba_byte *key,
    const usuba_byte *c)
{
    usuba_salsa20_key words;
    int status;
    if (!usuba_is_constant(c)) return -1;
    status = usuba_salsa20_init(&words, key, 32);
    if (status == USUBA_OK) status = usuba_salsa20_blocks(&words, in, out, 1);
    @COMMON@wipe(&words, sizeof words);
    return usuba_answer(status);
}

int usuba_crypto_core_hsalsa20(usuba_byte *out, const usuba_byte *in, const usuba_byte *key,
    const usuba_byte *c)
{
    if (!usuba_is_constant(c)) return -1;
    return usuba_hsalsa20_once(out, in, key);
}

int usuba_crypto_stream(usuba_byte *out, usuba_length length, const usuba_byte *nonce,
    const usuba_byte *key)
{
    usuba_xsalsa20_key words;
    int status;
    if (usuba_too_long(length)) return -1;
    status = usuba_xsalsa20_init(&words, key, 32);
    if (status == USUBA_OK)
        status = usuba_xsalsa20_keystream(&words, nonce, 0, out, (size_t)length);
    @COMMON@wipe(&words, sizeof words);
    return usuba_answer(status);
}

int usuba_crypto_stream_xor(usuba_byte *out, const usuba_byte *in, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key)
{
    usuba_xsalsa20_key words;
    int status;
    if (usuba_too_long(length)) return -1;
    status = usuba_xsalsa20_init(&words, key, 32);
    if (status == USUBA_OK)
        status = usuba_xsalsa20_xor(&words, nonce, 0, in, out, (size_t)length);
    @COMMON@wipe(&words, sizeof words);
    return usuba_answer(status);
}

int usuba_crypto_stream_salsa20(usuba_byte *out, usuba_length length, const usuba_byte *nonce,
    const usuba_byte *key)
{
    usuba_salsa20_key words;
    int status;
    if (usuba_too_long(length)) return -1;
    status = usuba_salsa20_init(&words, key, 32);
    if (status == USUBA_OK)
        status = usuba_salsa20_keystream(&words, nonce, 0, out, (size_t)length);
    @COMMON@wipe(&words, sizeof words);
    return usuba_answer(status);
}

int usuba_crypto_stream_salsa20_xor(usuba_byte *out, const usuba_byte *in, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key)
{
    usuba_salsa20_key words;
    int status;
    if (usuba_too_long(length)) return -1;
    status = usuba_salsa20_init(&words, key, 32);
    if (status == USUBA_OK)
        status = usuba_salsa20_xor(&words, nonce, 0, in, out, (size_t)length);
    @COMMON@wipe(&words, sizeof words);
    return usuba_answer(status);
}

int usuba_crypto_onetimeauth(usuba_byte *tag, const usuba_byte *m, usuba_length length,
    const usuba_byte *key)
{
    if (usuba_too_long(length)) return -1;
    return usuba_answer(usuba_poly1305_tag(key, m, (size_t)length, tag));
}

int usuba_crypto_onetimeauth_verify(const usuba_byte *tag, const usuba_byte *m,
    usuba_length length, const usuba_byte *key)
{
    if (usuba_too_long(length)) return -1;
    return usuba_answer(usuba_poly1305_check(key, m, (size_t)length, tag));
}

int usuba_crypto_hash(usuba_byte *out, const usuba_byte *m, usuba_length length)
{
    if (usuba_too_long(length)) return -1;
    return usuba_answer(usuba_sha512_hash(m, (size_t)length, out));
}

int usuba_crypto_hashblocks(usuba_byte *state, const usuba_byte *m, usuba_length length)
{
    if (usuba_too_long(length)) return -1;
    if (usuba_sha512_blocks(state, m, (size_t)length / 128) != USUBA_OK) return -1;
    return (int)(length % 128);
}

int usuba_crypto_scalarmult(usuba_byte *out, const usuba_byte *scalar, const usuba_byte *point)
{
    return usuba_answer(usuba_x25519(scalar, point, out));
}

int usuba_crypto_scalarmult_base(usuba_byte *out, const usuba_byte *scalar)
{
    return usuba_answer(usuba_x25519_base(scalar, out));
}

int usuba_crypto_sign(usuba_byte *signed_message, usuba_length *signed_length,
    const usuba_byte *m, usuba_length length, const usuba_byte *secret_key)
{
    uint8_t signature[64];
    if (!signed_message || length > (size_t)-1 - 64) return -1;
    if (usuba_ed25519_sign(secret_key, m, (size_t)length, signature) != USUBA_OK) return -1;
    if (length) usuba_move(signed_message + 64, m, (size_t)length);
    memcpy(signed_message, signature, 64);
    if (signed_length) *signed_length = length + 64;
    return 0;
}

int usuba_crypto_sign_open(usuba_byte *m, usuba_length *length, const usuba_byte *signed_message,
    usuba_length signed_length, const usuba_byte *public_key)
{
    if (!m || !signed_message || signed_length < 64 || usuba_too_long(signed_length)) return -1;
    if (usuba_ed25519_verify(public_key, signed_message + 64, (size_t)signed_length - 64,
            signed_message) != USUBA_OK)
        return -1;
    usuba_move(m, signed_message + 64, (size_t)signed_length - 64);
    if (length) *length = signed_length - 64;
    return 0;
}

int usuba_crypto_sign_seed_keypair(usuba_byte *public_key, usuba_byte *secret_key,
    const usuba_byte *seed)
{
    return usuba_answer(usuba_ed25519_keypair_from_seed(seed, public_key, secret_key));
}

int usuba_crypto_sign_keypair(usuba_byte *public_key, usuba_byte *secret_key)
{
    if (!public_key || !secret_key) return -1;
    randombytes(secret_key, 32);
    return usuba_crypto_sign_seed_keypair(public_key, secret_key, secret_key);
}

int usuba_crypto_sign_detached(usuba_byte *signature, usuba_length *signature_length,
    const usuba_byte *m, usuba_length length, const usuba_byte *secret_key)
{
    if (usuba_too_long(length)) return -1;
    if (usuba_ed25519_sign(secret_key, m, (size_t)length, signature) != USUBA_OK) return -1;
    if (signature_length) *signature_length = 64;
    return 0;
}

int usuba_crypto_sign_verify_detached(const usuba_byte *signature, const usuba_byte *m,
    usuba_length length, const usuba_byte *public_key)
{
    if (usuba_too_long(length)) return -1;
    return usuba_answer(usuba_ed25519_verify(public_key, m, (size_t)length, signature));
}

int usuba_crypto_verify_16(const usuba_byte *one, const usuba_byte *other)
{
    return usuba_answer(@COMMON@compare(one, other, 16));
}

int usuba_crypto_verify_32(const usuba_byte *one, const usuba_byte *other)
{
    return usuba_answer(@COMMON@compare(one, other, 32));
}
