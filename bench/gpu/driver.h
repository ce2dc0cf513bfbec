/*
 * The functions of NVIDIA's driver that `measure.c` calls, as its reference manual (CUDA Driver API)
 * declares them. `stand_in.c` defines them on a host.
 */
#ifndef DRIVER_H
#define DRIVER_H
#include <stddef.h>

typedef unsigned long long address;
typedef struct any_context *context;
typedef struct any_module *module;
typedef struct any_function *function;
typedef struct any_stream *stream;
typedef struct any_event *event;

/* CUdevice_attribute and CUfunction_attribute. */
enum { CLOCK_KHZ = 13, MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76 };
enum { LOCAL_BYTES = 3, REGISTERS = 4 };

/* Each with its name in the driver, and its parameters. */
#define DRIVER(F) \
    F(init, "cuInit", (unsigned flags)) \
    F(error_name, "cuGetErrorName", (int error, const char **name)) \
    F(device_get, "cuDeviceGet", (int *device, int number)) \
    F(device_name, "cuDeviceGetName", (char *name, int length, int device)) \
    F(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device)) \
    F(context_retain, "cuDevicePrimaryCtxRetain", (context *made, int device)) \
    F(context_use, "cuCtxSetCurrent", (context used)) \
    F(module_load, "cuModuleLoadData", (module *made, const void *image)) \
    F(module_unload, "cuModuleUnload", (module loaded)) \
    F(module_function, "cuModuleGetFunction", (function *found, module loaded, const char *name)) \
    F(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, function asked)) \
    F(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", \
      (int *blocks, function asked, int threads, size_t shared)) \
    F(allocate, "cuMemAlloc_v2", (address *memory, size_t length)) \
    F(release, "cuMemFree_v2", (address memory)) \
    F(to_device, "cuMemcpyHtoD_v2", (address to, const void *from, size_t length)) \
    F(to_host, "cuMemcpyDtoH_v2", (void *to, address from, size_t length)) \
    F(launch, "cuLaunchKernel", \
      (function started, unsigned x, unsigned y, unsigned z, unsigned threads_x, unsigned threads_y, \
       unsigned threads_z, unsigned shared, stream in, void **parameters, void **extra)) \
    F(synchronize, "cuCtxSynchronize", (void)) \
    F(event_create, "cuEventCreate", (event *made, unsigned flags)) \
    F(event_record, "cuEventRecord", (event recorded, stream in)) \
    F(event_wait, "cuEventSynchronize", (event recorded)) \
    F(event_elapsed, "cuEventElapsedTime", (float *milliseconds, event from, event to))
#endif
