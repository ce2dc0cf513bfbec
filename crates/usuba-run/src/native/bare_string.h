/* The part of <string.h> that generated code uses, for machines without a C library. */
#ifndef USUBA_LAB_STRING_H
#define USUBA_LAB_STRING_H
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *left, const void *right, size_t count);
#endif
