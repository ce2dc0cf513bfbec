
/* ---- @TITLE@: @NAME@ ----
   @SPEC@
   @ABOUT@ */
#define USUBA_@UPPER@_BYTES @IN@

/* Permutes `count` states of USUBA_@UPPER@_BYTES each, which follow each other. */
USUBA_API int usuba_@NAME@_permute(uint8_t *states, size_t count);
