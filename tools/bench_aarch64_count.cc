// A plugin for QEMU that prints how many instructions a program has executed, all threads together,
// at each call of getppid(), with which the guest of tools/bench-aarch64 marks its inferences.
// Declared here is the part of QEMU's plugin interface, version 1, that is used.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern "C" {

typedef uint64_t PluginId;
struct qemu_plugin_tb;  // a block that is being translated

void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id,
                                           void (*callback)(PluginId, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* block, int operation, void* counter,
                                              uint64_t increment);
typedef void (*OnCall)(PluginId id, unsigned cpu, int64_t number, uint64_t, uint64_t, uint64_t,
                       uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_syscall_cb(PluginId id, OnCall callback);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);

__attribute__((visibility("default"))) extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;
}

namespace {

constexpr int kAdd = 0;  // the only inline operation that there is
uint64_t executed = 0;

void on_block(PluginId, qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAdd, &executed, qemu_plugin_tb_n_insns(block));
}

void on_call(PluginId, unsigned, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
             uint64_t, uint64_t, uint64_t) {
  constexpr int64_t kGetParent = 173;  // of 64-bit Arm
  if (number == kGetParent)
    fprintf(stderr, "executed %llu\n", static_cast<unsigned long long>(executed));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(PluginId id, const void*,
                                                                          int, char**) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
  qemu_plugin_register_vcpu_syscall_cb(id, on_call);
  return 0;
}
