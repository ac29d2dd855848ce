import Glibc
import NIOSSL

/// Keeps a fixed number of requests in flight on each of several connections, from one thread, and
/// counts the answers. After each read it sends as many requests as it got answers, in one write.
struct FrameLoad {
  struct Result {
    var answers = 0
    /// The reads that brought the answers. Each was followed by one write of as many requests.
    var reads = 0
    /// Elapsed time on the clock.
    var seconds = 0.0
    /// From the write of a request to the read of its answer. Only measured with one request in
    /// flight on each connection.
    var latencies = LatencyCounts()
    /// The data of one of the answers.
    var sample: [UInt8] = []
  }

  private let connections: [FrameConnection]
  private let inFlight: Int

  /// Connects.
  ///
  /// - Parameters:
  ///   - port: of the loopback address.
  /// - firstByte: the first byte of the data of each answer.
  /// - readLength: the maximum length of one read.
  init(
    port: UInt16, tls: NIOSSLContext? = nil, requests: FrameRequests, firstByte: UInt8,
    connections: Int, inFlight: Int,
    readLength: Int
  ) throws {
    self.inFlight = inFlight
    self.connections = try (0..<connections).map { number in
      try FrameConnection(
        port: port, tls: tls, requests: requests, first: number * requests.count / connections,
        firstByte: firstByte, inFlight: inFlight, readLength: readLength)
    }
  }

  /// Returns when every request is answered.
  func run(for duration: Duration) throws -> Result {
    var result = Result()
    let started = Self.now
    let end = started + UInt64(duration / .nanoseconds(1))
    var sent = [UInt64](repeating: started, count: connections.count)
    for connection in connections { try connection.send(inFlight) }
    var waiting = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    var busy = connections.count
    while busy > 0 {
      // A single connection blocks in its read.
      if connections.count > 1 { try Self.wait(for: &waiting) }
      for index in connections.indices
      where connections.count == 1 || waiting[index].revents != 0 {
        let connection = connections[index]
        let answers = try connection.receive()
        // A part of an answer, or of a record.
        if answers == 0 { continue }
        let now = Self.now
        if inFlight == 1 && answers == 1 { result.latencies.add(now - sent[index]) }
        result.answers += answers
        result.reads += 1
        if now < end {
          sent[index] = now
          try connection.send(answers)
        } else if connection.inFlight == 0 {
          // poll(2) ignores a negative descriptor.
          waiting[index] = pollfd(fd: -1, events: 0, revents: 0)
          busy -= 1
        }
      }
    }
    result.seconds = Double(Self.now - started) / 1e9
    result.sample = connections[0].lastAnswer
    return result
  }

  /// In milliseconds, like the timeout of a single connection.
  private static let patience: CInt = 10_000

  private static func wait(for descriptors: inout [pollfd]) throws {
    while true {
      let count = poll(&descriptors, nfds_t(descriptors.count), patience)
      if count > 0 { return }
      guard count < 0, errno == EINTR else {
        throw FrameConnection.Failure(
          description: "no answer within \(patience / 1_000) seconds")
      }
    }
  }

  /// In nanoseconds.
  private static var now: UInt64 {
    var time = timespec()
    // It fails only for a clock that the system lacks, and Linux has this one.
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
