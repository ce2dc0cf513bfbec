/* Counts the instructions that a program executes under qemu, in user mode.

     cc -O2 -shared -fPIC -o count.so count.c
     qemu-riscv32 -plugin ./count.so PROGRAM

   A program marks its parts by a system call that no system has, MARK, whose first argument is a
   number. For each mark the plugin writes a line to standard error, `mark NUMBER COUNT`: COUNT
   instructions were executed since the previous mark, including the call itself.

   Exact, and the same in each run: the emulator calls the plugin for each basic block before it runs,
   and a system call ends a block. (`rdinstret` returns the clock of the host there.) The lines that
   begin with `Trace` in the output of `qemu-riscv32 -singlestep -d exec,nochain PROGRAM` give the same
   number, slowly and without a plugin.

   The declarations belong to qemu's interface for plugins, which distributions do not ship. It has
   versions; an emulator that rejects the version below may accept -DVERSION=2 and so on. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef VERSION
#define VERSION 1
#endif

#define MARK 0x5573

typedef uint64_t plugin;
struct qemu_plugin_tb;

int qemu_plugin_version = VERSION;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin id,
                                           void (*call)(plugin id, struct qemu_plugin_tb *piece));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *piece);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *piece,
                                          void (*call)(unsigned processor, void *data), int flags,
                                          void *data);
void qemu_plugin_register_vcpu_syscall_cb(plugin id,
                                          void (*call)(plugin id, unsigned processor,
                                                       int64_t number, uint64_t a, uint64_t b,
                                                       uint64_t c, uint64_t d, uint64_t e,
                                                       uint64_t f, uint64_t g, uint64_t h));

static uint64_t count;

static void executed(unsigned processor, void *data)
{
    (void)processor;
    count += (uintptr_t)data;
}

static void translated(plugin id, struct qemu_plugin_tb *piece)
{
    const uintptr_t instructions = qemu_plugin_tb_n_insns(piece);
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(piece, executed, 0, (void *)instructions);
}

static void called(plugin id, unsigned processor, int64_t number, uint64_t a, uint64_t b,
                   uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    (void)id, (void)processor, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number != MARK) return;
    fprintf(stderr, "mark %u %llu\n", (unsigned)a, (unsigned long long)count);
    count = 0;
}

int qemu_plugin_install(plugin id, const void *info, int arguments, char **values)
{
    (void)info, (void)arguments, (void)values;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
