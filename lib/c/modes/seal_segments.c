
#if !defined(USUBA_SEGMENTS_OPEN)
/* ---- STREAM (Hoang, Reyhanitabar, Rogaway, Vizár, CRYPTO 2015): a nonce ends with the number of a
   segment in 32 bits, the highest first, and with whether the segment is the last one ---- */

#define USUBA_SEGMENTS_OPEN 1
#define USUBA_SEGMENTS_ENDED 2

/* Segments side by side. */
#define USUBA_SEGMENTS_SIDE 32

/* Whether `count` more segments are allowed, the last of which ends the message if `last`. */
static int usuba_segments_allow(uint64_t phase, uint64_t number, size_t count, int last)
{
    if (phase != USUBA_SEGMENTS_OPEN) return USUBA_ERROR_STATE;
    if (count > UINT32_MAX || number + count > (uint64_t)UINT32_MAX + (last ? 1 : 0))
        return USUBA_ERROR_COUNTER;
    return USUBA_OK;
}

/* The end of the nonce of a segment. */
static void usuba_segments_number(uint8_t *end, uint64_t number, int last)
{
    end[0] = (uint8_t)(number >> 24);
    end[1] = (uint8_t)(number >> 16);
    end[2] = (uint8_t)(number >> 8);
    end[3] = (uint8_t)number;
    end[4] = last ? 1 : 0;
}

/* Whether the buffers of `count` segments are valid, of `from` bytes each at `in` and of `to` bytes at
   `out`. */
static int usuba_segments_places(const uint8_t *in, size_t from, const uint8_t *out, size_t to,
                                 size_t count)
{
    if (!count) return USUBA_OK;
    if (!in || !out) return USUBA_ERROR_NULL;
    if (count > SIZE_MAX / (from < to ? to : from)) return USUBA_ERROR_LENGTH;
    if (usuba_seal_meet(in, from * count, out, to * count)) return USUBA_ERROR_OVERLAP;
    return USUBA_OK;
}
#endif
