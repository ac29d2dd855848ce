// The bare echo: answers each ttrpc frame with the same 300 bytes of data, and does nothing else.
// Its time for a call is the share of the operating system, so `deploy/benchmark read` compares the
// service with it (P1, P2, P3).
//
// One thread, level-triggered epoll, and one write(2) for all answers to one read(2). It listens on
// a free port of the loopback address, prints the port as one line, and runs until it is killed.
//
// An error on one connection closes that connection. Any other error ends the program, so that no
// measurement uses a damaged server.

#define _GNU_SOURCE  // For accept4(2).

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// A frame is a header and data (PROTOCOL.md of ttrpc). The header is the length of the data and the
// stream, both big-endian, then the type and the flags, a byte each.
#define STREAM_OFFSET 4
#define STREAM_LENGTH 4
#define TYPE_OFFSET 8
#define HEADER_LENGTH 10
#define TYPE_RESPONSE 2

// The data of an answer, about as long as a GetCustomerStateResponse. EchoServer.swift has the same
// length and byte for the echo on swift-nio, and for the client, which checks the first byte.
#define ANSWER_DATA_LENGTH 300
#define ANSWER_DATA_BYTE 'r'
#define ANSWER_LENGTH (HEADER_LENGTH + ANSWER_DATA_LENGTH)

// Room for the 64 requests that the benchmark has in flight on one connection.
#define READ_LENGTH (64 * 1024)
// Bytes for one read. No frame is shorter than its header, but the first may have begun in an
// earlier read.
#define MAXIMUM_ANSWERS (READ_LENGTH / HEADER_LENGTH + 1)

// P3 has 64 connections: all may wait to be accepted at once, and all may be ready at once.
#define BACKLOG 256
#define EVENT_COUNT 64

struct connection {
  int descriptor;
  // The header of the frame that is being read, and how many bytes of it have arrived.
  uint8_t header[HEADER_LENGTH];
  size_t header_length;
  // The bytes of its data that have not arrived. Valid once the header is complete.
  size_t data_left;
  // Answers that the socket had no room for, or NULL. Nothing is read until they are written, so
  // they are at most the answers to one read.
  uint8_t *unsent;
  size_t unsent_length;
  size_t unsent_start;
};

// Shared by all connections, as one is served at a time.
static uint8_t input[READ_LENGTH];
static uint8_t output[MAXIMUM_ANSWERS * ANSWER_LENGTH];
// An answer on stream 0. Each answer is a copy with the stream of its request.
static uint8_t answer_template[ANSWER_LENGTH];

static _Noreturn void fail(const char *call) {
  perror(call);
  exit(EXIT_FAILURE);
}

static void make_answer_template(void) {
  const uint32_t length = htonl(ANSWER_DATA_LENGTH);
  memcpy(answer_template, &length, sizeof length);
  answer_template[TYPE_OFFSET] = TYPE_RESPONSE;
  memset(answer_template + HEADER_LENGTH, ANSWER_DATA_BYTE, ANSWER_DATA_LENGTH);
}

// Prints the port, and returns the listening socket.
static int start_listening(void) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) fail("socket");
  struct sockaddr_in address = {
    .sin_family = AF_INET,
    .sin_port = 0,
    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
  };
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) != 0) fail("bind");
  if (listen(listener, BACKLOG) != 0) fail("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) fail("getsockname");
  if (printf("%d\n", (int)ntohs(address.sin_port)) < 0 || fflush(stdout) != 0) fail("printf");
  return listener;
}

// Sets the events of a descriptor that epoll_wait(2) reports with `connection`, which is NULL for
// the listening socket.
static void watch(
    int epoll, int operation, int descriptor, uint32_t events, struct connection *connection) {
  struct epoll_event event = {.events = events, .data.ptr = connection};
  if (epoll_ctl(epoll, operation, descriptor, &event) != 0) fail("epoll_ctl");
}

static void accept_connection(int epoll, int listener) {
  const int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) {
    // The client may have disconnected since the event.
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return;
    fail("accept4");
  }
  // Without TCP_NODELAY an answer may wait for the acknowledgement of the previous one.
  const int on = 1;
  if (setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("setsockopt");
  struct connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) fail("calloc");
  connection->descriptor = descriptor;
  watch(epoll, EPOLL_CTL_ADD, descriptor, EPOLLIN, connection);
}

// Closing removes the descriptor from epoll. One epoll_wait(2) reports a descriptor at most once,
// so no later event refers to the freed connection.
static void close_connection(struct connection *connection) {
  if (close(connection->descriptor) != 0) fail("close");
  free(connection->unsent);
  free(connection);
}

static size_t smaller(size_t one, size_t other) { return one < other ? one : other; }

// Reads frames from the first `length` bytes of `input`, and puts an answer to each complete frame
// into `output`. Returns the length of these answers.
static size_t answer_frames(struct connection *connection, size_t length) {
  size_t position = 0;
  size_t answered = 0;
  while (position < length) {
    if (connection->header_length < HEADER_LENGTH) {
      const size_t part = smaller(HEADER_LENGTH - connection->header_length, length - position);
      memcpy(connection->header + connection->header_length, input + position, part);
      connection->header_length += part;
      position += part;
      if (connection->header_length < HEADER_LENGTH) break;
      uint32_t data_length;
      memcpy(&data_length, connection->header, sizeof data_length);
      connection->data_left = ntohl(data_length);
    }
    const size_t skipped = smaller(connection->data_left, length - position);
    connection->data_left -= skipped;
    position += skipped;
    if (connection->data_left > 0) break;

    uint8_t *answer = output + answered;
    memcpy(answer, answer_template, ANSWER_LENGTH);
    memcpy(answer + STREAM_OFFSET, connection->header + STREAM_OFFSET, STREAM_LENGTH);
    answered += ANSWER_LENGTH;
    connection->header_length = 0;
  }
  return answered;
}

// Whether a failed read(2) or write(2) can be repeated at the next event.
static bool is_temporary(int error) { return error == EAGAIN || error == EINTR; }

// Writes as many bytes as the socket has room for. Returns false when the connection is broken.
static bool write_bytes(int descriptor, const uint8_t *bytes, size_t length, size_t *written) {
  const ssize_t count = write(descriptor, bytes, length);
  *written = count < 0 ? 0 : (size_t)count;
  return count >= 0 || is_temporary(errno);
}

// Reads once, and answers the complete frames. Returns false when the connection has ended.
static bool read_and_answer(int epoll, struct connection *connection) {
  const ssize_t count = read(connection->descriptor, input, READ_LENGTH);
  if (count < 0) return is_temporary(errno);
  if (count == 0) return false;
  const size_t length = answer_frames(connection, (size_t)count);
  if (length == 0) return true;
  size_t written;
  if (!write_bytes(connection->descriptor, output, length, &written)) return false;
  if (written == length) return true;

  connection->unsent_length = length - written;
  connection->unsent_start = 0;
  connection->unsent = malloc(connection->unsent_length);
  if (connection->unsent == NULL) fail("malloc");
  memcpy(connection->unsent, output + written, connection->unsent_length);
  watch(epoll, EPOLL_CTL_MOD, connection->descriptor, EPOLLOUT, connection);
  return true;
}

// Writes more of the unsent answers, and resumes reading after the last one. Returns false when the
// connection has ended.
static bool write_unsent(int epoll, struct connection *connection) {
  size_t written;
  const bool is_open = write_bytes(
      connection->descriptor, connection->unsent + connection->unsent_start,
      connection->unsent_length - connection->unsent_start, &written);
  if (!is_open) return false;
  connection->unsent_start += written;
  if (connection->unsent_start < connection->unsent_length) return true;

  free(connection->unsent);
  connection->unsent = NULL;
  watch(epoll, EPOLL_CTL_MOD, connection->descriptor, EPOLLIN, connection);
  return true;
}

int main(void) {
  // A write to a disconnected client fails with EPIPE instead.
  if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) fail("signal");
  make_answer_template();
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) fail("epoll_create1");
  const int listener = start_listening();
  watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);

  struct epoll_event events[EVENT_COUNT];
  while (true) {
    const int count = epoll_wait(epoll, events, EVENT_COUNT, -1);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < count; index++) {
      struct connection *connection = events[index].data.ptr;
      if (connection == NULL) {
        accept_connection(epoll, listener);
        continue;
      }
      const bool is_open = connection->unsent == NULL
          ? read_and_answer(epoll, connection) : write_unsent(epoll, connection);
      if (!is_open) close_connection(connection);
    }
  }
}
