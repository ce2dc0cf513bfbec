/*
 * The functions of `driver.h` on a host, so that `measure.c` runs where there is no device: a module is
 * the shared object at the path that is the image, and a launch calls its function of the host, with
 * one thread that does the work of all.
 */
#define _POSIX_C_SOURCE 199309L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"
#include "launch.h"

#define NO_MEMORY 2
#define NO_FUNCTION 500

struct any_event {
    struct timespec at;
};

int cuInit(unsigned flags) { return (void)flags, 0; }

int cuGetErrorName(int error, const char **name)
{
    *name = error == NO_MEMORY ? "no memory" : "no such function";
    return 0;
}

int cuDeviceGet(int *device, int number) { return *device = number, 0; }

int cuDeviceGetName(char *name, int length, int device)
{
    return (void)device, snprintf(name, (size_t)length, "this host, instead of a device"), 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == CLOCK_KHZ ? 1000000 : 1;
    return 0;
}

int cuDevicePrimaryCtxRetain(context *made, int device) { return (void)device, *made = NULL, 0; }

int cuCtxSetCurrent(context used) { return (void)used, 0; }

int cuModuleLoadData(module *made, const void *image)
{
    *made = (module)dlopen((const char *)image, RTLD_NOW);
    return *made ? 0 : NO_FUNCTION;
}

int cuModuleUnload(module loaded) { return (void)loaded, 0; }

int cuModuleGetFunction(function *found, module loaded, const char *name)
{
    char text[200];
    snprintf(text, sizeof text, "%s_on_host", name);
    *found = (function)dlsym((void *)loaded, text);
    return *found ? 0 : NO_FUNCTION;
}

int cuFuncGetAttribute(int *value, int attribute, function asked)
{
    return (void)attribute, (void)asked, *value = 0, 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, function asked, int threads, size_t shared)
{
    return (void)asked, (void)threads, (void)shared, *blocks = 1, 0;
}

int cuMemAlloc_v2(address *memory, size_t length)
{
    *memory = (address)(size_t)aligned_alloc(256, (length + 255) / 256 * 256);
    return *memory ? 0 : NO_MEMORY;
}

int cuMemFree_v2(address memory) { return free((void *)(size_t)memory), 0; }

int cuMemcpyHtoD_v2(address to, const void *from, size_t length)
{
    return memcpy((void *)(size_t)to, from, length), 0;
}

int cuMemcpyDtoH_v2(void *to, address from, size_t length)
{
    return memcpy(to, (const void *)(size_t)from, length), 0;
}

int cuLaunchKernel(function started, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                   unsigned threads_y, unsigned threads_z, unsigned shared, stream in, void **parameters,
                   void **extra)
{
    (void)x, (void)y, (void)z, (void)threads_x, (void)threads_y, (void)threads_z, (void)shared, (void)in;
    (void)extra;
    ((launched *)(size_t)started)(parameters);
    return 0;
}

int cuCtxSynchronize(void) { return 0; }

int cuEventCreate(event *made, unsigned flags)
{
    (void)flags;
    *made = (event)calloc(1, sizeof(struct any_event));
    return *made ? 0 : NO_MEMORY;
}

int cuEventRecord(event recorded, stream in) { return (void)in, clock_gettime(CLOCK_MONOTONIC, &recorded->at); }

int cuEventSynchronize(event recorded) { return (void)recorded, 0; }

int cuEventElapsedTime(float *milliseconds, event from, event to)
{
    *milliseconds = (float)(to->at.tv_sec - from->at.tv_sec) * 1e3f
        + (float)(to->at.tv_nsec - from->at.tv_nsec) / 1e6f;
    return 0;
}
