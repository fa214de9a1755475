#ifndef BUILD_H
#define BUILD_H

/// The commit that the program was built from, short; empty where the build was not told it.
const char *build_commit(void);

#endif
