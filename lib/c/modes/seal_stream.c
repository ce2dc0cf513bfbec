
#if !defined(USUBA_SEAL_PART)
/* Authenticated encryption from a keystream and Poly1305. */

/* Bytes of a part that is encrypted and then authenticated while it is in the cache. */
#define USUBA_SEAL_PART 16384

/* Bytes of keystream that are made at once for the key of the tag and the first bytes of a message: a
   batch of blocks takes little more time than one block. */
#if defined(USUBA_SMALL)
#define USUBA_SEAL_FIRST 512
#else
#define USUBA_SEAL_FIRST 1024
#endif

/* Bytes of keystream in whole blocks for the key of the tag and the beginning of a message, which
   comes after `skip` bytes. */
static size_t usuba_seal_used(size_t skip, size_t length)
{
    size_t first = length < USUBA_SEAL_FIRST - skip ? length : USUBA_SEAL_FIRST - skip;
#if defined(__GNUC__)
    /* The length of a long message is not rounded. */
    __asm__("" : "+r"(first));
#endif
    return (skip + first + 63) / 64 * 64;
}

/* Encrypts the first bytes of a message, `most` of a longer one. */
static void usuba_seal_first(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t length,
                             size_t most)
{
    if (length > most) usuba_xors[usuba_chosen()](out, in, stream, most);
    else if (length) usuba_xors[usuba_chosen()](out, in, stream, length);
}
#endif
