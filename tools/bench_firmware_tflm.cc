// An image with TensorFlow Lite Micro around one network, for tools/bench-firmware --tflm: one
// inference between two calls of etch_mark(), and before it a call of nothing, as `etch bench` has
// them. MODEL is the path of the .tflite file. Prints the arena that is used and a hash of the
// outputs.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "semihosting.h"
#include "tensorflow/lite/micro/debug_log.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"

__asm__(".section .rodata\n.balign 16\n.global model_data\nmodel_data:\n.incbin \"" MODEL
        "\"\n.balign 4\n.text\n");
extern "C" {
extern const unsigned char model_data[];

__attribute__((noinline, used)) void etch_mark() { __asm__ volatile("" ::: "memory"); }

// The library's messages, without their numbers.
void DebugLog(const char* format, va_list) { semihosting::print(format); }
int DebugVsnprintf(char* buffer, size_t size, const char* format, va_list) {
  size_t i = 0;
  for (; i + 1 < size && format[i] != '\0'; ++i) buffer[i] = format[i];
  if (size > 0) buffer[i] = '\0';
  return static_cast<int>(i);
}
// What newlib asks for and nothing here calls.
void _exit(int code) { semihosting::exit(code); }
void __cxa_pure_virtual() { semihosting::exit(1); }
void* __dso_handle = nullptr;
int __aeabi_atexit(void*, void (*)(void*), void*) { return 0; }
// The constructors of static objects, which firmware_start.cc does not call.
extern void (*__init_array_start[])();
extern void (*__init_array_end[])();
}

namespace {

constexpr size_t kArenaBytes = ARENA_BYTES;
alignas(16) unsigned char arena[kArenaBytes];

void print_number(const char* before, size_t number) {
  char text[24] = {};
  size_t begin = sizeof text - 1;
  do {
    text[--begin] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  semihosting::print(before);
  semihosting::print(text + begin);
  semihosting::print("\n");
}

using Resolver = tflite::MicroMutableOpResolver<16>;

void add_operators(Resolver& resolver) {
  resolver.AddAdd();
  resolver.AddAveragePool2D();
  resolver.AddConcatenation();
  resolver.AddConv2D();
  resolver.AddDepthwiseConv2D();
  resolver.AddDequantize();
  resolver.AddFullyConnected();
  resolver.AddMaxPool2D();
  resolver.AddMean();
  resolver.AddMul();
  resolver.AddPad();
  resolver.AddQuantize();
  resolver.AddRelu();
  resolver.AddReshape();
  resolver.AddSoftmax();
  resolver.AddTranspose();
}

TfLiteStatus nothing(tflite::MicroInterpreter&) { return kTfLiteOk; }
TfLiteStatus invoke(tflite::MicroInterpreter& interpreter) { return interpreter.Invoke(); }

}  // namespace

int main() {
  for (auto* each = __init_array_start; each != __init_array_end; ++each) (*each)();
  static Resolver resolver;
  add_operators(resolver);
  static tflite::MicroInterpreter interpreter(tflite::GetModel(model_data), resolver, arena,
                                              kArenaBytes);
  if (interpreter.AllocateTensors() != kTfLiteOk) return 1;
  for (size_t i = 0; i < interpreter.inputs_size(); ++i) {
    const TfLiteTensor* const input = interpreter.input(i);
    for (size_t byte = 0; byte < input->bytes; ++byte)
      input->data.uint8[byte] = static_cast<uint8_t>(byte * 37 + i);
  }
  using Call = TfLiteStatus (*)(tflite::MicroInterpreter&);
  volatile Call calls[] = {nothing, invoke};
  etch_mark();
  for (int i = 0; i < 2; ++i) {
    const TfLiteStatus status = calls[i](interpreter);
    etch_mark();
    if (status != kTfLiteOk) return 1;
  }
  size_t hash = 2166136261U;
  for (size_t i = 0; i < interpreter.outputs_size(); ++i) {
    const TfLiteTensor* const output = interpreter.output(i);
    for (size_t byte = 0; byte < output->bytes; ++byte)
      hash = (hash ^ output->data.uint8[byte]) * 16777619U;
  }
  print_number("arena ", interpreter.arena_used_bytes());
  print_number("hash ", hash);
  return 0;
}
