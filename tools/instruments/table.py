"""The instruments of tools/instruments-check: which compiler, which flags, how the program is run."""

import dataclasses

# "-ffreestanding" and so on are what docs/firmware.md promises to compile with.
PLAIN = ["-fno-exceptions", "-fno-rtti"]
FREESTANDING = [*PLAIN, "-ffreestanding"]
WARNINGS = ("-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-align -Wundef -Wcomment -Wtrigraphs "
            "-Wold-style-cast -Wdouble-promotion -Wcast-qual -Wmissing-declarations -Wredundant-decls -Wformat=2 "
            "-Wnull-dereference -Wunused -Werror").split()
# Not -Wuseless-cast: what casts int64_t to ptrdiff_t is useless on some machines only.
WARNINGS_GXX = [*WARNINGS, "-Wbidi-chars=any", "-Wduplicated-cond", "-Wduplicated-branches",
                "-Wlogical-op"]
# All of clang's warnings except those about C++98; padding of structs and parameters; pointer arithmetic as such;
# comparisons of floats, which are meant (exactly 0 is a case of its own), and of constants that depend on the target.
EVERYTHING = ("-Weverything -Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-padded -Wno-float-equal "
              "-Wno-tautological-value-range-compare -Wno-unknown-warning-option -Wno-unsafe-buffer-usage").split()

# Signed overflow, shifts, alignment, bounds, null, casts of floats that do not fit. With clang the group "integer" too,
# except unsigned numbers that wrap or are shifted out: sums of products and hashes do that by design, as the
# specification wants it (accumulators are modulo 2^32), and it is defined in C++. Pointers that overflow are left to
# g++, as clang takes ten times longer to compile that check than all others.
UNDEFINED = ["-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
ADDRESS_AND_INTEGER = [*UNDEFINED, "-fsanitize=address,integer,local-bounds",
                       "-fno-sanitize=unsigned-integer-overflow,unsigned-shift-base,pointer-overflow"]

# Either refused with #error or exact.
FAST_MATH = ["-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math -fno-signed-zeros -fno-trapping-math",
             "-freciprocal-math", "-ffinite-math-only", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno",
             "-ffp-contract=fast", "-ffp-contract=off", "-frounding-math"]


@dataclasses.dataclass
class Instrument:
    name: str
    compiler: str
    flags: list
    mode: str  # pages, heap or threads: of driver.h; valgrind; static; flags
    form: str = "embed"  # embed; few: for a dozen models; shares: --threads 3; weights: --weights binary
    group: str = "memory"
    quick: bool = False
    environment: dict = dataclasses.field(default_factory=dict)
    uses: str = ""  # the objects of this instrument


def instruments():
    g, clang, clang19 = "g++", "clang++", "clang++-19"
    san = {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    return [
        Instrument("pages-g++", g, ["-O2", "-g1", *PLAIN], "pages", quick=True),
        Instrument("valgrind", g, ["-O2", "-g1", *PLAIN], "valgrind", uses="pages-g++"),
        Instrument("pages-clang", clang, ["-O2", *PLAIN], "pages"),
        Instrument("pages-weights", g, ["-O1", *PLAIN], "pages", form="weights"),
        Instrument("asan-ubsan-clang", clang, ["-O1", "-g1", *ADDRESS_AND_INTEGER], "heap", environment=san, quick=True),
        Instrument("ubsan-g++", g, ["-O1", "-g1", *UNDEFINED], "heap", environment=san),
        Instrument("msan-clang", clang, ["-O1", "-g1", "-fsanitize=memory", "-fno-sanitize-recover=all",
                                         "-fno-omit-frame-pointer"], "heap", quick=True),
        Instrument("tsan-g++", g, ["-O1", "-g1", "-fsanitize=thread", *PLAIN], "threads", form="few"),
        Instrument("pages-shares", g, ["-O2", *PLAIN], "pages", form="shares"),
        Instrument("tsan-shares", g, ["-O1", "-g1", "-fsanitize=thread", *PLAIN], "threads", form="shares"),
        Instrument("static-g++", g, ["-std=c++17", "-O2", *WARNINGS_GXX, *FREESTANDING, "-fstack-usage",
                                     "-fcallgraph-info=su"], "static", group="static", quick=True),
        Instrument("static-g++20", g, ["-std=c++20", "-O1", *WARNINGS_GXX, *FREESTANDING], "static", group="static"),
        Instrument("static-clang", clang, ["-std=c++17", "-O2", *WARNINGS, *EVERYTHING, *FREESTANDING], "static",
                   group="static", quick=True),
        Instrument("static-clang20", clang, ["-std=c++20", "-O1", *WARNINGS, *EVERYTHING, *FREESTANDING], "static",
                   group="static"),
        Instrument("static-clang19", clang19, ["-std=c++17", "-O1", *WARNINGS, *EVERYTHING, *FREESTANDING], "static",
                   group="static"),
        Instrument("static-clang19-20", clang19, ["-std=c++20", "-O2", *WARNINGS, *EVERYTHING, *FREESTANDING], "static",
                   group="static"),
        Instrument("O0", g, ["-O0"], "heap", group="flags"),
        Instrument("O0-clang", clang, ["-O0"], "heap", group="flags"),
        Instrument("O3-native", g, ["-O3", "-march=native", "-funsigned-char", "-fshort-enums", "-ffp-contract=fast",
                                    "-fno-math-errno"], "heap", group="flags"),
        Instrument("O3-native-clang", clang, ["-O3", "-march=native", "-funsigned-char", "-ffp-contract=fast",
                                              "-fwrapv"], "heap", group="flags"),
        Instrument("Os", g, ["-Os", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fPIE"], "heap", group="flags"),
        Instrument("Os-clang", clang, ["-Oz", "-fno-builtin", "-fPIE"], "heap", group="flags"),
        Instrument("O2-hardened", g, ["-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-all", "-ftrapv",
                                      "-D_GLIBCXX_ASSERTIONS", "-frounding-math"], "heap", group="flags"),
        Instrument("fast-math-g++", g, ["-O2"], "fast-math", form="few", group="flags"),
        Instrument("fast-math-clang", clang, ["-O2"], "fast-math", form="few", group="flags"),
    ]
