import Glibc

/// Sends requests on several connections from one thread: as fast as they are answered, or at a rate.
struct HTTPLoad {
  struct Result {
    var answers = 0
    var seconds = 0.0
    /// In microseconds, only at a rate: from the moment when a request was due to its answer.
    var latencies: [Double] = []
    var sample: [UInt8] = []

    func latency(percentile: Int) -> Double {
      let sorted = latencies.sorted()
      return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percentile / 100)]
    }
  }

  private let connections: [HTTPConnection]
  private let requests: [[UInt8]]
  private var next = 0

  init(port: UInt16, connections: Int, requests: [[UInt8]]) throws {
    self.requests = requests
    self.connections = try (0..<connections).map { _ in try HTTPConnection(port: port) }
  }

  /// Returns when every request is answered.
  ///
  /// - Parameter rate: requests a second, evenly; nil: one in flight on each connection.
  mutating func run(for duration: Duration, rate: Double? = nil) throws -> Result {
    var result = Result()
    let started = Self.now
    let length = Double(duration / .nanoseconds(1))
    let interval = rate.map { 1e9 / $0 }
    var sent = 0
    /// When the next request is due; nil after the last one.
    func due() -> UInt64? {
      let offset = interval.map { Double(sent) * $0 }
      guard let offset else { return Self.now - started < UInt64(length) ? started : nil }
      return offset < length ? started + UInt64(offset) : nil
    }
    var idle = Array(connections.indices)
    var dueTimes = [UInt64](repeating: 0, count: connections.count)
    var waiting = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    while true {
      var moment = due()
      while let time = moment, time <= Self.now, let index = idle.popLast() {
        dueTimes[index] = time
        try connections[index].send(requests[next])
        next = (next + 1) % requests.count
        sent += 1
        moment = due()
      }
      if moment == nil, idle.count == connections.count { break }
      let now = Self.now
      let delay = moment.flatMap { idle.isEmpty ? nil : $0 > now ? $0 - now : 0 }
      try Self.wait(for: &waiting, nanoseconds: delay)
      for index in connections.indices where waiting[index].revents != 0 {
        guard let body = try connections[index].receive() else { continue }
        if interval != nil {
          result.latencies.append(Double(Self.now - dueTimes[index]) / 1e3)
        }
        if result.answers == 0 { result.sample = Array(body) }
        result.answers += 1
        idle.append(index)
      }
    }
    result.seconds = Double(Self.now - started) / 1e9
    return result
  }

  /// In milliseconds.
  private static let patience: CInt = 10_000

  /// - Parameter nanoseconds: rounded up to milliseconds; nil: until one is ready.
  private static func wait(for descriptors: inout [pollfd], nanoseconds: UInt64?) throws {
    let milliseconds = nanoseconds.map { CInt(($0 + 999_999) / 1_000_000) } ?? patience
    let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    guard count > 0 || nanoseconds != nil || count < 0 && errno == EINTR else {
      throw HTTPConnection.Failure(
        description: "no answer within \(patience / 1_000) seconds")
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
