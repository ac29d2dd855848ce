// PostgreSQL's client library.
#include <libpq-fe.h>
// eventfd wakes the thread that polls the sockets. Swift's Glibc module does not include it.
#include <sys/eventfd.h>
