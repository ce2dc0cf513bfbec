
/* Overwrites a context, or anything else, with zeros, also where the compiler believes that
   nobody looks. */
USUBA_API void @COMMON@wipe(void *memory, size_t length);
