// What the MLPerf Tiny benchmark asks of a submission: the functions that its harness calls ("th"),
// each in our words. The benchmark's own header is used instead where CMakeLists.txt is told the
// folder of its API.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Once, before anything else: the serial port, then the clock, then everything besides.
void th_serialport_initialize();
void th_timestamp_initialize();
void th_final_initialize();

// Text to the host; %s, %d, %u, %lu and %0.3f are understood.
void th_printf(const char* format, ...);

// Between commands: calls ee_serial_callback() with what the host sends.
void ee_serial_callback(char character);

// Prints the time as "m-lap-us-NUMBER".
void th_timestamp();

// One inference on what the host has loaded: take the input, run, print "m-results-[...]".
void th_load_tensor();
void th_infer();
void th_results();

// Around the inferences that are timed: nothing to do here, a board may stop its interrupts.
void th_pre();
void th_post();

// Of the harness: the loaded bytes, at most `most` of them, are copied; how many there are.
size_t ee_get_buffer(uint8_t* buffer, size_t most);
void ee_main();
