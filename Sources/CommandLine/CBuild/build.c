#include "build.h"

const char *build_commit(void) {
#ifdef TENDER_COMMIT
  return TENDER_COMMIT;
#else
  return "";
#endif
}
