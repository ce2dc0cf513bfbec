
/* Single blocks, which is no mode of operation: equal blocks stay equal. @IN@ bytes each at in,
   @OUT@ each at out@PLACE@. */
USUBA_API int usuba_@FUNCTION@_blocks(const usuba_@NAME@_key *key, const uint8_t *in, uint8_t *out,
    size_t nblocks);
