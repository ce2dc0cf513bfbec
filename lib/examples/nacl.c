/* NaCl in one file: a signed note in a box for one person, and a changed one.

       usubac dist --kind nacl -o nacl
       cc -O3 -Inacl nacl.c nacl/usuba-nacl.c nacl/usuba-nacl-random.c && ./a.out */

#include <stdio.h>
#include <string.h>

#include "usuba-nacl.h"

#define NOTE "Only she reads this, and knows from whom it is."
/* With its zero bit at the end. */
#define NOTE_BYTES sizeof NOTE
#define SIGNED_BYTES (NOTE_BYTES + crypto_sign_BYTES)
/* Messages of boxes begin with zeros. */
#define ROOM (crypto_box_ZEROBYTES + SIGNED_BYTES)

int main(void)
{
    unsigned char his_public[crypto_box_PUBLICKEYBYTES], his_secret[crypto_box_SECRETKEYBYTES];
    unsigned char her_public[crypto_box_PUBLICKEYBYTES], her_secret[crypto_box_SECRETKEYBYTES];
    unsigned char verifying[crypto_sign_PUBLICKEYBYTES], signing[crypto_sign_SECRETKEYBYTES];
    unsigned char nonce[crypto_box_NONCEBYTES], plain[ROOM] = {0}, sealed[ROOM], opened[ROOM];
    unsigned char note[SIGNED_BYTES];
    unsigned long long length;

    crypto_box_keypair(his_public, his_secret);
    crypto_box_keypair(her_public, her_secret);
    crypto_sign_keypair(verifying, signing);

    /* He signs the note and seals it for her. With the same keys no nonce comes twice. */
    if (crypto_sign(plain + crypto_box_ZEROBYTES, &length, (const unsigned char *)NOTE, NOTE_BYTES,
                    signing))
        return 1;
    randombytes(nonce, sizeof nonce);
    if (crypto_box(sealed, plain, ROOM, nonce, her_public, his_secret)) return 2;

    /* She opens it and looks at who wrote it. */
    if (crypto_box_open(opened, sealed, ROOM, nonce, his_public, her_secret)) return 3;
    if (crypto_sign_open(note, &length, opened + crypto_box_ZEROBYTES, SIGNED_BYTES, verifying))
        return 4;
    printf("%.*s\n", (int)length - 1, (const char *)note);

    sealed[ROOM - 1] ^= 1;
    if (!crypto_box_open(opened, sealed, ROOM, nonce, his_public, her_secret)) return 5;
    puts("and that one was changed");
    usuba_nacl_wipe(her_secret, sizeof her_secret);
    usuba_nacl_wipe(his_secret, sizeof his_secret);
    usuba_nacl_wipe(signing, sizeof signing);
    return 0;
}
