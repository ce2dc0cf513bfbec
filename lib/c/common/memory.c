
void @COMMON@wipe(void *memory, size_t length)
{
    if (memory && length) usuba_erase(memory, length);
}

int @COMMON@compare(const void *one, const void *other, size_t length)
{
    /* What is volatile is read to the end. */
    const volatile uint8_t *a = (const volatile uint8_t *)one;
    const volatile uint8_t *b = (const volatile uint8_t *)other;
    unsigned difference = 0;
    int status;
    if (!length) return USUBA_OK;
    if (!a || !b) return USUBA_ERROR_NULL;
    while (length--) difference |= (unsigned)*a++ ^ (unsigned)*b++;
    /* One more than 255 for anything but zero, without a branch. */
    status = (int)((difference + 255) >> 8) * USUBA_ERROR_FORGED;
    USUBA_PUBLIC(&status, sizeof status);
    return status;
}
