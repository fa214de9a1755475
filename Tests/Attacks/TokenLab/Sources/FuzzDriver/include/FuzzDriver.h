// The entry point of every fuzz target: libFuzzer's loop around `LLVMFuzzerTestOneInput`. The package manager calls a
// program's entry point by its module's name, so libFuzzer's own `main` would not be found. It is not called directly.
