// A plugin for QEMU that counts executed instructions between marks, for `etch bench` on emulated
// targets: every time execution comes to the address of etch_mark() it writes how many instructions
// there were since the last time, one number per line. `etch bench` builds it on the machine that
// runs QEMU; no part of it is delivered with generated code.
//
//   qemu-... -plugin COUNT.so,out=FILE,mark=0xADDRESS[,blocks=FILE] PROGRAM
//
// With `blocks` that file has which blocks these were: before each line "mark" one line for each
// block that was executed since the last one, its address, its number of instructions, how often it
// was executed and how often the next instruction was another one than the one after it.
//
// A block of instructions is counted as a whole when it is entered, so an instruction that faults
// counts its block to the end. Declared here is the part of QEMU's plugin interface, version 1,
// that is used: distributions do not ship its header.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {

typedef uint64_t PluginId;
struct qemu_plugin_tb;    // a block that is being translated
struct qemu_plugin_insn;  // one of its instructions

typedef void (*OnTranslation)(PluginId id, qemu_plugin_tb* block);
typedef void (*OnExecution)(unsigned cpu, void* argument);  // of an instruction or a block

void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, OnTranslation callback);
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* block, int operation, void* counter,
                                              uint64_t increment);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* block, OnExecution callback, int flags,
                                          void* argument);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* instruction, OnExecution callback,
                                            int flags, void* argument);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* instruction);
size_t qemu_plugin_insn_size(const qemu_plugin_insn* instruction);

__attribute__((visibility("default"))) extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;
}

namespace {

constexpr int kAdd = 0;             // the only inline operation that there is
constexpr int kTouchesNothing = 0;  // the callback looks at no register

uint64_t executed = 0;
uint64_t executed_at_last_mark = 0;
uint64_t mark = 0;
FILE* out = nullptr;

// One translation of a block; QEMU may translate the same instructions several times.
struct Block {
  Block* next;
  uint64_t begin, end;  // addresses
  size_t instructions;
  uint64_t executions, jumps;  // since the last mark
};
FILE* blocks_out = nullptr;
Block* blocks = nullptr;    // all of them
Block* previous = nullptr;  // the one that was executed last

void write_blocks() {
  for (Block* block = blocks; block != nullptr; block = block->next) {
    if (block->executions == 0) continue;
    fprintf(blocks_out, "%llu %zu %llu %llu\n", static_cast<unsigned long long>(block->begin),
            block->instructions, static_cast<unsigned long long>(block->executions),
            static_cast<unsigned long long>(block->jumps));
    block->executions = block->jumps = 0;
  }
  fprintf(blocks_out, "mark\n");
  fflush(blocks_out);
}

void on_entry(unsigned, void* argument) {
  Block* const block = static_cast<Block*>(argument);
  if (previous != nullptr && previous->end != block->begin) ++previous->jumps;
  ++block->executions;
  previous = block;
}

// Memory that is never freed: translations live as long as the emulator.
void watch(qemu_plugin_tb* translation, size_t count) {
  Block* const block = static_cast<Block*>(calloc(1, sizeof(Block)));
  const qemu_plugin_insn* const last = qemu_plugin_tb_get_insn(translation, count - 1);
  if (block == nullptr) abort();
  block->begin = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(translation, 0));
  block->end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
  block->instructions = count;
  block->next = blocks;
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_cb(translation, on_entry, kTouchesNothing, block);
}

void on_mark(unsigned, void*) {
  const uint64_t since = executed - executed_at_last_mark;
  executed_at_last_mark = executed;
  fprintf(out, "%llu\n", static_cast<unsigned long long>(since));
  fflush(out);  // an emulator may end without a word
  if (blocks_out != nullptr) write_blocks();
}

void on_block(PluginId, qemu_plugin_tb* block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAdd, &executed, count);
  if (blocks_out != nullptr && count > 0) watch(block, count);
  for (size_t i = 0; i < count; ++i) {
    qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    if (qemu_plugin_insn_vaddr(instruction) != mark) continue;
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, kTouchesNothing, nullptr);
  }
}

// What follows "NAME=" in the argument; null if it is another one.
const char* value_of(const char* argument, const char* name) {
  const size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                         : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(PluginId id, const void*,
                                                                          int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    if (const char* path = value_of(argv[i], "out")) out = fopen(path, "w");
    if (const char* path = value_of(argv[i], "blocks")) blocks_out = fopen(path, "w");
    if (const char* address = value_of(argv[i], "mark")) mark = strtoull(address, nullptr, 0);
  }
  if (out == nullptr || mark == 0) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
  return 0;
}
