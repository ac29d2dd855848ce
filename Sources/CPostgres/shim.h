// PostgreSQL's client library.
#include <libpq-fe.h>
// What wakes the thread that waits for its sockets; Swift's Glibc does not have it.
#include <sys/eventfd.h>
