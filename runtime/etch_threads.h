// How a network that was compiled for several threads gets them: three functions of the user's
// choice, for C and C++. etch_thread_pool.h has a pool of its own; docs/threads.md of Etch shows
// OpenMP and others. Without this hook, run() does everything on the thread that calls it.
#ifndef ETCH_THREADS_H_
#define ETCH_THREADS_H_

// Does one share of a piece of work.
typedef void (*EtchTask)(void* argument, int share);  // NOLINT: also for C

typedef struct EtchThreads {  // NOLINT: also for C
  // Passed to the functions.
  void* context;
  // Calls task(argument, share) once for every share from 0 to shares - 1, in any order, at the
  // same time or not, on any threads, and returns when all calls have returned. What the caller
  // wrote before must be seen by the tasks, and what they wrote by the caller.
  void (*run)(void* context, EtchTask task, void* argument, int shares);
  // Called at the beginning and at the end of an inference: until then it may pay to keep threads
  // awake. Either may be null.
  void (*begin)(void* context);
  void (*end)(void* context);
} EtchThreads;

#endif  // ETCH_THREADS_H_
