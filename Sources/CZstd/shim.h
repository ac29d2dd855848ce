// Compression with a dictionary.
#include <zstd.h>
