/* Crypto++: CTR and stream ciphers. Its AES cannot be told at run time to leave AES instructions
   alone, so it is absent. */

#include <cryptopp/camellia.h>
#include <cryptopp/chacha.h>
#include <cryptopp/cryptlib.h>
#include <cryptopp/des.h>
#include <cryptopp/modes.h>
#include <cryptopp/salsa.h>
#include <cryptopp/serpent.h>
#include <cryptopp/sm4.h>
#include <cryptopp/threefish.h>

#include <exception>
#include <string>

#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    static const std::string version = [] {
        const int number = CryptoPP::LibraryVersion();
        return std::to_string(number / 100) + "." + std::to_string(number / 10 % 10) + "." +
               std::to_string(number % 10);
    }();
    return version.c_str();
}

namespace {

template <class Cipher, size_t KEY, size_t START>
struct Stream {
    typename Cipher::Encryption cipher;

    static void *init(int, const uint8_t *key)
    {
        static const uint8_t zero[START] = {};
        try {
            auto state = new Stream;
            state->cipher.SetKeyWithIV(key, KEY, zero, START);
            return state;
        } catch (const std::exception &) {
            return nullptr;
        }
    }

    static int run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                   size_t length)
    {
        auto &cipher = static_cast<Stream *>(state)->cipher;
        try {
            cipher.Resynchronize(start, START);
            cipher.ProcessData(out, in, length);
            return 0;
        } catch (const std::exception &) {
            return 1;
        }
    }

    static void drop(void *state)
    {
        delete static_cast<Stream *>(state);
    }

    static constexpr peer entry(const char *name, const char *call)
    {
        return {name, "ctr", call, 0, init, run, drop};
    }
};

template <class Cipher, size_t KEY, size_t START>
using Counter = Stream<CryptoPP::CTR_Mode<Cipher>, KEY, START>;

/* A block cipher without a mode, its tweak behind the key. */
template <class Cipher, size_t SIZE>
struct Tweaked {
    typename Cipher::Encryption cipher;

    static void *init(int, const uint8_t *key)
    {
        try {
            const CryptoPP::ConstByteArrayParameter tweak(key + SIZE, 16);
            auto state = new Tweaked;
            state->cipher.SetKey(key, SIZE, CryptoPP::MakeParameters(CryptoPP::Name::Tweak(), tweak));
            return state;
        } catch (const std::exception &) {
            return nullptr;
        }
    }

    static int run(void *state, const uint8_t *, const uint8_t *in, uint8_t *out, size_t length)
    {
        auto &cipher = static_cast<Tweaked *>(state)->cipher;
        cipher.AdvancedProcessBlocks(in, nullptr, out, length,
                                     CryptoPP::BlockTransformation::BT_AllowParallel);
        return 0;
    }

    static void drop(void *state)
    {
        delete static_cast<Tweaked *>(state);
    }

    static constexpr peer entry(const char *name, const char *call)
    {
        return {name, "blocks", call, 0, init, run, drop};
    }
};

const peer peers[] = {
    Stream<CryptoPP::ChaChaTLS, 32, 12>::entry("chacha20", "ChaChaTLS"),
    Stream<CryptoPP::Salsa20, 32, 8>::entry("salsa20", "Salsa20"),
    Counter<CryptoPP::Serpent, 16, 16>::entry("serpent128", "CTR_Mode<Serpent>"),
    Counter<CryptoPP::Camellia, 16, 16>::entry("camellia128", "CTR_Mode<Camellia>"),
    Counter<CryptoPP::Camellia, 32, 16>::entry("camellia256", "CTR_Mode<Camellia>"),
    Counter<CryptoPP::SM4, 16, 16>::entry("sm4", "CTR_Mode<SM4>"),
    Counter<CryptoPP::DES, 8, 8>::entry("des", "CTR_Mode<DES>"),
    Counter<CryptoPP::DES_EDE3, 24, 8>::entry("tdes", "CTR_Mode<DES_EDE3>"),
    Tweaked<CryptoPP::Threefish256, 32>::entry("threefish256", "Threefish256"),
    Tweaked<CryptoPP::Threefish512, 64>::entry("threefish512", "Threefish512"),
    Tweaked<CryptoPP::Threefish1024, 128>::entry("threefish1024", "Threefish1024"),
};

} // namespace

PEER_LIST(peers)
