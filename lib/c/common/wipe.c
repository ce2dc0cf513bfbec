
void @COMMON@wipe(void *memory, size_t length)
{
    if (!memory || !length) return;
#if defined(__GNUC__)
    memset(memory, 0, length);
    /* The compiler must assume that somebody reads it. */
    __asm__ __volatile__("" : : "r"(memory) : "memory");
#else
    {
        volatile uint8_t *byte = (volatile uint8_t *)memory;
        while (length--) *byte++ = 0;
    }
#endif
}
