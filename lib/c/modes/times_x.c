
#if !defined(USUBA_TIMES_X)
#define USUBA_TIMES_X
/* A block times x in the field of 2^128 elements, whose first bit is the highest coefficient (NIST SP
   800-38B, section 5.3). */
static void usuba_times_x(uint8_t *block)
{
    const unsigned carry = block[0] >> 7;
    size_t i;
    for (i = 0; i < 15; i++) block[i] = (uint8_t)(block[i] << 1 | block[i + 1] >> 7);
    block[15] = (uint8_t)(block[15] << 1 ^ (0x87 & (0u - carry)));
}
#endif
