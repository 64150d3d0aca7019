// Puts the file SAMPLES_FILE into the image as it is, between samples_begin and samples_end, in a
// section of its own so that it is not counted as part of the network.
__asm__(
    ".section .samples, \"a\"\n"
    ".balign 8\n"
    ".global samples_begin\n"
    "samples_begin:\n"
    ".incbin \"" SAMPLES_FILE
    "\"\n"
    ".global samples_end\n"
    "samples_end:\n"
    ".text\n");
