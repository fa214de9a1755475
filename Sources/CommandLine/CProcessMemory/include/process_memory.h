#ifndef PROCESS_MEMORY_H
#define PROCESS_MEMORY_H

/// Keeps the memory of this process in it: no core dumps, and on Linux no reading through ptrace or /proc.
///
/// Returns 0, or the number of the system's error.
int process_memory_forbid_dumps(void);

#endif
