#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENTRY_POINT(name) \
  int name(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }

ENTRY_POINT(fuzz_cms_main)
ENTRY_POINT(fuzz_certificate_main)
ENTRY_POINT(fuzz_token_json_main)
ENTRY_POINT(fuzz_payload_main)
ENTRY_POINT(fuzz_strict_json_main)
ENTRY_POINT(fuzz_whole_token_main)
