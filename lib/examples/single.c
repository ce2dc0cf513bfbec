/* One cipher in one file: encrypts a message in pieces, as it would come from a file.

       usubac dist chacha20
       cc -O3 single.c usuba_chacha20.c && ./a.out */

#include <stdio.h>
#include <string.h>

#include "usuba_chacha20.h"

int main(void)
{
    static const uint8_t key_bytes[USUBA_CHACHA20_KEY_BYTES] = "a key nobody else knows, really";
    static const uint8_t nonce[USUBA_CHACHA20_NONCE_BYTES] = "never twice";
    uint8_t message[] = "Whoever has the same key and nonce reads this again.";
    const size_t length = sizeof message, piece = 10;
    usuba_chacha20_key key;
    size_t done, i;

    if (usuba_chacha20_init(&key, key_bytes, sizeof key_bytes) != USUBA_OK) return 1;
    for (done = 0; done < length; done += piece) {
        const size_t part = length - done < piece ? length - done : piece;
        /* The position of this piece in the keystream. */
        if (usuba_chacha20_xor(&key, nonce, done, message + done, message + done, part) != USUBA_OK)
            return 1;
    }
    for (i = 0; i < 16; i++) printf("%02x", message[i]);
    printf(" by %s\n", usuba_chacha20_backend());
    if (usuba_chacha20_xor(&key, nonce, 0, message, message, length) != USUBA_OK) return 1;
    printf("%s\n", (const char *)message);
    usuba_chacha20_wipe(&key, sizeof key);
    return 0;
}
