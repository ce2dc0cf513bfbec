/* Botan: CTR, stream ciphers, authenticated encryption, hash functions and CMAC. */

#include <botan/aead.h>
#include <botan/block_cipher.h>
#include <botan/hash.h>
#include <botan/mac.h>
#include <botan/stream_cipher.h>
#include <botan/version.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    return Botan::short_version_cstr();
}

namespace {

enum Number {
    CHACHA20, SALSA20, SERPENT, CAMELLIA128, CAMELLIA256, NOEKEON, SM4, AES128, AES256, DES, TDES,
};

struct Kind {
    const char *name;
    size_t key, start;
};

const Kind kinds[] = {
    {"ChaCha(20)", 32, 12},           {"Salsa20", 32, 8},
    {"CTR-BE(Serpent)", 16, 16},      {"CTR-BE(Camellia-128)", 16, 16},
    {"CTR-BE(Camellia-256)", 32, 16}, {"CTR-BE(Noekeon)", 16, 16},
    {"CTR-BE(SM4)", 16, 16},          {"CTR-BE(AES-128)", 16, 16},
    {"CTR-BE(AES-256)", 32, 16},      {"CTR-BE(DES)", 8, 8},
    {"CTR-BE(TripleDES)", 24, 8},
};

struct Context {
    std::unique_ptr<Botan::StreamCipher> cipher;
    size_t start;
};

void *init(int number, const uint8_t *key)
{
    try {
        auto cipher = Botan::StreamCipher::create(kinds[number].name);
        if (!cipher) return nullptr;
        cipher->set_key(key, kinds[number].key);
        return new Context{std::move(cipher), kinds[number].start};
    } catch (const std::exception &) {
        return nullptr;
    }
}

int run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length)
{
    auto context = static_cast<Context *>(state);
    try {
        context->cipher->set_iv(start, context->start);
        context->cipher->cipher(in, out, length);
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

void drop(void *state)
{
    delete static_cast<Context *>(state);
}

/* Authenticated encryption with a nonce of 12 bytes, in a buffer as its interface has it. */
struct Seal {
    std::unique_ptr<Botan::AEAD_Mode> mode;
    Botan::secure_vector<uint8_t> text;
};

enum Mode { GCM, OCB, CCM };

void *seal_init(int number, const uint8_t *key)
{
    const char *const names[] = {"AES-128/GCM", "AES-128/OCB", "AES-128/CCM(16,3)"};
    try {
        auto mode = Botan::AEAD_Mode::create(names[number], Botan::ENCRYPTION);
        if (!mode) return nullptr;
        mode->set_key(key, 16);
        return new Seal{std::move(mode), {}};
    } catch (const std::exception &) {
        return nullptr;
    }
}

int seal_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length)
{
    auto seal = static_cast<Seal *>(state);
    try {
        seal->text.assign(in, in + length - 16);
        seal->mode->start(start, 12);
        seal->mode->finish(seal->text);
        std::memcpy(out, seal->text.data(), length);
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

void seal_drop(void *state)
{
    delete static_cast<Seal *>(state);
}

/* CMAC under one key, of messages in sequence. */
struct Mac {
    std::unique_ptr<Botan::MessageAuthenticationCode> function;
    size_t count;
};

void *mac_init(int count, const uint8_t *key)
{
    try {
        auto function = Botan::MessageAuthenticationCode::create("CMAC(AES-128)");
        if (!function) return nullptr;
        function->set_key(key, 16);
        return new Mac{std::move(function), size_t(count)};
    } catch (const std::exception &) {
        return nullptr;
    }
}

int mac_run(void *state, const uint8_t *, const uint8_t *in, uint8_t *out, size_t length)
{
    auto mac = static_cast<Mac *>(state);
    const size_t each = length / mac->count;
    try {
        for (size_t i = 0; i < mac->count; i++) {
            mac->function->update(in + i * each, each);
            mac->function->final(out + i * 16);
        }
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

void mac_drop(void *state)
{
    delete static_cast<Mac *>(state);
}

/* The tweak lies behind the key. */
void *threefish_init(int, const uint8_t *key)
{
    try {
        auto cipher = Botan::BlockCipher::create("Threefish-512");
        auto tweakable = dynamic_cast<Botan::Tweakable_Block_Cipher *>(cipher.get());
        if (!tweakable) return nullptr;
        cipher->set_key(key, 64);
        tweakable->set_tweak(key + 64, 16);
        return cipher.release();
    } catch (const std::exception &) {
        return nullptr;
    }
}

int threefish_run(void *state, const uint8_t *, const uint8_t *in, uint8_t *out, size_t length)
{
    static_cast<Botan::BlockCipher *>(state)->encrypt_n(in, out, length / 64);
    return 0;
}

void threefish_drop(void *state)
{
    delete static_cast<Botan::BlockCipher *>(state);
}

struct Hash {
    std::unique_ptr<Botan::HashFunction> function;
    size_t count;
};

/* A hash function on `number % 16` messages in sequence. */
enum Function { SKEIN, SHA3 = 16, SHAKE = 32, SHA256 = 48 };

void *hash_init(int number, const uint8_t *)
{
    const char *const names[] = {"Skein-512(512)", "SHA-3(256)", "SHAKE-128(256)", "SHA-256"};
    const int count = number % 16;
    try {
        auto function = Botan::HashFunction::create(names[number / 16]);
        return function ? new Hash{std::move(function), size_t(count)} : nullptr;
    } catch (const std::exception &) {
        return nullptr;
    }
}

int hash_run(void *state, const uint8_t *, const uint8_t *in, uint8_t *out, size_t length)
{
    auto hash = static_cast<Hash *>(state);
    const size_t each = length / hash->count;
    try {
        for (size_t i = 0; i < hash->count; i++) {
            hash->function->update(in + i * each, each);
            hash->function->final(out + i * hash->function->output_length());
        }
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

void hash_drop(void *state)
{
    delete static_cast<Hash *>(state);
}

constexpr peer entry(const char *cipher, Number number, const char *call)
{
    return {cipher, "ctr", call, number, init, run, drop};
}

const peer peers[] = {
    entry("chacha20", CHACHA20, "ChaCha(20)"),
    entry("salsa20", SALSA20, "Salsa20"),
    entry("serpent128", SERPENT, "CTR-BE(Serpent)"),
    entry("camellia128", CAMELLIA128, "CTR-BE(Camellia-128)"),
    entry("camellia256", CAMELLIA256, "CTR-BE(Camellia-256)"),
    entry("noekeon_indirect", NOEKEON, "CTR-BE(Noekeon)"),
    entry("sm4", SM4, "CTR-BE(SM4)"),
    entry("aes128", AES128, "CTR-BE(AES-128)"),
    entry("aes256", AES256, "CTR-BE(AES-256)"),
    entry("des", DES, "CTR-BE(DES)"),
    entry("tdes", TDES, "CTR-BE(TripleDES)"),
    {"aes128_gcm", "seal", "AES-128/GCM", GCM, seal_init, seal_run, seal_drop},
    {"aes128_ocb", "seal", "AES-128/OCB", OCB, seal_init, seal_run, seal_drop},
    {"aes128_ccm", "seal", "AES-128/CCM(16,3)", CCM, seal_init, seal_run, seal_drop},
    {"aes128_cmac", "mac", "CMAC(AES-128)", 1, mac_init, mac_run, mac_drop},
    {"aes128_cmac_8", "mac", "CMAC(AES-128)", 8, mac_init, mac_run, mac_drop},
    {"skein512", "hash", "Skein-512(512)", SKEIN + 1, hash_init, hash_run, hash_drop},
    {"skein512_8", "hash", "Skein-512(512)", SKEIN + 8, hash_init, hash_run, hash_drop},
    {"sha256", "hash", "SHA-256", SHA256 + 1, hash_init, hash_run, hash_drop},
    {"sha3_256", "hash", "SHA-3(256)", SHA3 + 1, hash_init, hash_run, hash_drop},
    {"sha3_256_8", "hash", "SHA-3(256)", SHA3 + 8, hash_init, hash_run, hash_drop},
    {"shake128", "hash", "SHAKE-128(256)", SHAKE + 1, hash_init, hash_run, hash_drop},
    {"threefish512", "blocks", "Threefish-512", 0, threefish_init, threefish_run, threefish_drop},
};

} // namespace

PEER_LIST(peers)
