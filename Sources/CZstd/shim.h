// Compression with dictionaries, and their training.
#include <zdict.h>
#include <zstd.h>
