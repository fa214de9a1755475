#include "process_memory.h"

#include <errno.h>
#include <sys/resource.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

int process_memory_forbid_dumps(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
#ifdef __linux__
  // The limit does not hold where the kernel pipes core dumps to a program.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
#endif
  return 0;
}
