# Compiler, CPU and emulator for -DCPU=cortex-m4 or -DCPU=cortex-m55, with Debian's gcc-arm-none-eabi and newlib. No C++
# library is linked, no heap, no start-up but our own.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # nothing links before there is a linker script
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CPU)

if(CPU STREQUAL "cortex-m4")
  set(cpu_flags "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
  set(FIRMWARE_BOARD mps2-an386)
elseif(CPU STREQUAL "cortex-m55")
  set(cpu_flags "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard")
  set(FIRMWARE_BOARD mps3-an547)
else()
  message(FATAL_ERROR "CPU is '${CPU}': cortex-m4 or cortex-m55 is needed")
endif()

set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_CXX_FLAGS_INIT "${cpu_flags} -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti \
-fno-threadsafe-statics -fno-unwind-tables -fno-asynchronous-unwind-tables")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "of Release; to what _INIT has CMake would add -O3")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostartfiles -nodefaultlibs -Wl,--gc-sections")
set(CMAKE_CXX_STANDARD_LIBRARIES "-lc_nano -lgcc")  # memcpy, memset, memmove and what the CPU lacks

# How ctest runs an image.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-system-arm -M ${FIRMWARE_BOARD} -nographic -monitor none -serial none
  -semihosting-config enable=on,target=native -kernel)
