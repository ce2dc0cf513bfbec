// From C++: the key is wiped when it goes out of scope.
//
//     usubac dist chacha20
//     c++ -O3 cxx.cpp usuba_chacha20.c && ./a.out

#include <cstdio>
#include <stdexcept>
#include <vector>

#include "usuba_chacha20.h"

class Key {
public:
    explicit Key(const std::vector<uint8_t> &bytes)
    {
        if (usuba_chacha20_init(&key, bytes.data(), bytes.size()) != USUBA_OK)
            throw std::invalid_argument("a key has 32 bytes");
    }
    ~Key() { usuba_chacha20_wipe(&key, sizeof key); }
    Key(const Key &) = delete;
    Key &operator=(const Key &) = delete;

    std::vector<uint8_t> keystream(const std::vector<uint8_t> &nonce, std::size_t length) const
    {
        std::vector<uint8_t> stream(length);
        if (nonce.size() != USUBA_CHACHA20_NONCE_BYTES
            || usuba_chacha20_keystream(&key, nonce.data(), 0, stream.data(), length) != USUBA_OK)
            throw std::invalid_argument("a nonce has 12 bytes");
        return stream;
    }

private:
    usuba_chacha20_key key;
};

int main()
{
    // RFC 8439, A.1, test vector 1.
    const Key key(std::vector<uint8_t>(32));
    const std::vector<uint8_t> stream = key.keystream(std::vector<uint8_t>(12), 64);
    for (std::size_t i = 0; i < 8; i++) std::printf("%02x", stream[i]);
    std::printf("\n");
    try {
        Key wrong(std::vector<uint8_t>(31));
    } catch (const std::invalid_argument &) {
        return stream[0] == 0x76 && stream[63] == 0x86 ? 0 : 1;
    }
    return 1;
}
