/// The entry point of every fuzz target: libFuzzer's loop around `LLVMFuzzerTestOneInput`. The package manager gives each
/// program's entry point a name of its own, so libFuzzer's own `main` would not be found.
int fuzz_main(int argc, char **argv);
