import Glibc

/// Keeps so many requests in flight on each of so many connections, from one thread, and counts the
/// answers. What a read brings is replaced by as many requests in one write.
struct FrameLoad {
  struct Result {
    var answers = 0
    /// What they came in: as many requests went out in one write.
    var reads = 0
    /// On the clock.
    var seconds = 0.0
    /// From the write of a request to the read of its answer; only with one in flight on each
    /// connection.
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
  ///   - firstByte: with which the data of each answer begins.
  ///   - readLength: the most bytes that one read takes.
  init(
    port: UInt16, requests: FrameRequests, firstByte: UInt8, connections: Int, inFlight: Int,
    readLength: Int
  ) throws {
    self.inFlight = inFlight
    self.connections = try (0..<connections).map { number in
      try FrameConnection(
        port: port, requests: requests, first: number * requests.count / connections,
        firstByte: firstByte, inFlight: inFlight, readLength: readLength)
    }
  }

  /// Returns when all that was asked is answered.
  func run(for duration: Duration) throws -> Result {
    var result = Result()
    let started = Self.now
    let end = started + UInt64(duration / .nanoseconds(1))
    var sent = [UInt64](repeating: started, count: connections.count)
    for connection in connections { try connection.send(inFlight) }
    var waiting = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    var busy = connections.count
    while busy > 0 {
      // One alone waits in its read.
      if connections.count > 1 { try Self.wait(for: &waiting) }
      for index in connections.indices
      where connections.count == 1 || waiting[index].revents != 0 {
        let connection = connections[index]
        let answers = try connection.receive()
        let now = Self.now
        if inFlight == 1 && answers == 1 { result.latencies.add(now - sent[index]) }
        result.answers += answers
        result.reads += 1
        if now < end {
          sent[index] = now
          try connection.send(answers)
        } else if connection.inFlight == 0 {
          // A negative descriptor is passed over.
          waiting[index] = pollfd(fd: -1, events: 0, revents: 0)
          busy -= 1
        }
      }
    }
    result.seconds = Double(Self.now - started) / 1e9
    result.sample = connections[0].lastAnswer
    return result
  }

  /// In milliseconds; as a connection that waits alone.
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
