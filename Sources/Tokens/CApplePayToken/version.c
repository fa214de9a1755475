#include "applepaytoken.h"

const char *apt_version(void) { return APT_VERSION; }
