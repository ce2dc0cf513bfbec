
/* @TITLE@: @FUNCTION@, `nblocks` times: @IN@ bytes each at in, @OUT@ each at out@PLACE@. */
USUBA_API int usuba_@FUNCTION@_blocks(const uint8_t *in, uint8_t *out, size_t nblocks);
