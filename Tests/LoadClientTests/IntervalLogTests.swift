import EntitlementDomain
import Foundation
import NIOCore
import RPCServer
import StoreSimulator
import Synchronization
import Testing

@testable import LoadClient

@Suite("The interval log of HdrHistogram", .timeLimit(.minutes(1)))
struct IntervalLogTests {
  private func histogram(_ values: [(nanoseconds: Int64, count: Int)]) -> LatencyHistogram {
    var histogram = LatencyHistogram()
    for (nanoseconds, count) in values {
      for _ in 0..<count { histogram.record(nanoseconds: nanoseconds) }
    }
    return histogram
  }

  @Test("a histogram has the encoding of other implementations")
  func encoding() {
    // The output of the Python implementation (hdrhistogram 0.10.8) for the same values, with its
    // counts stored by zlib without compression.
    let encoded = HistogramEncoding.base64(
      histogram([(1, 2), (1_000, 1), (1_500_000, 300), (2_000_000_000, 1)]))
    #expect(
      encoded
        == "HISTFAAAAEF4AQE2AMn/HISTEwAAAA4AAAAAAAAAAwAAAAAAAAABAAADRjC4oAA/8AAAAAAAAAEEyw8CnacB2ATzpgECrQ4I9w=="
    )
  }

  @Test("all counts survive a round trip, for histograms of all sizes")
  func roundTrip() throws {
    var generator = SeededGenerator(seed: 23)
    for size in [0, 1, 2, 100, 100_000] {
      var histogram = LatencyHistogram()
      var expected: [Int: Int] = [:]
      for _ in 0..<size {
        let value = Int(exp(generator.fraction() * 28))
        histogram.record(nanoseconds: Int64(value))
        // Eleven bits of a value are significant; each further bit adds about a thousand counts.
        let shift = max(0, Int.bitWidth - value.leadingZeroBitCount - 11)
        expected[shift * 1_024 + (value >> shift), default: 0] += 1
      }
      let counts = try EncodedCounts(base64: HistogramEncoding.base64(histogram)).counts
      let found = counts.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) }
      #expect(Dictionary(uniqueKeysWithValues: found) == expected)
      #expect(counts.last != 0)
    }
  }

  @Test(
    "data longer than a block is stored in several", arguments: [0, 65_535, 65_536, 200_000])
  func blocks(size: Int) throws {
    var generator = SeededGenerator(seed: UInt64(size))
    let bytes = generator.bytes(size)
    #expect(try EncodedCounts.inflated(HistogramEncoding.zlib(bytes)) == bytes)
  }

  @Test("each second has a line for all calls, and a tagged line for each kind")
  func lines() throws {
    let text = Mutex("")
    let log = IntervalLog { lines in text.withLock { $0 += lines } }
    try log.begin(at: 1_793_491_200_250)
    let hot = histogram([(2_000_000, 1)])
    try log.add(
      MeasuredInterval(
        start: 0, length: 1.0004, all: hot, kinds: [.hot: hot, .cold: histogram([])]))
    let encoded = HistogramEncoding.base64(hot)
    let empty = HistogramEncoding.base64(histogram([]))
    #expect(
      text.withLock { $0 } == """
        #[Histogram log format version 1.3]
        #[StartTime: 1793491200.250 (seconds since epoch), 2026-11-01T00:00:00Z]
        "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
        0.000,1.000,2.000,\(encoded)
        Tag=hot,0.000,1.000,2.000,\(encoded)
        Tag=cold,0.000,1.000,0.000,\(empty)

        """)
  }

  @Test("a run writes the log as it runs, with every call")
  func run() async throws {
    let stage = try LoadStage()
    let server = try await stage.server { $0.succeed(ByteBuffer()) }
    let text = Mutex("")
    let log = IntervalLog { lines in text.withLock { $0 += lines } }
    let load = try stage.load(
      .open(rate: 200, spacing: .constant, maximumInFlight: 64), duration: .milliseconds(1_200),
      observer: RunObserver(log: log))
    let result = try await load.run()
    await server.shutDown()
    let lines = text.withLock { $0 }.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .dropFirst()
    for prefix in ["", "Tag=hot,"] {
      let own = lines.filter { $0.hasPrefix("Tag=") != prefix.isEmpty }
        .map { $0.dropFirst(prefix.count).split(separator: ",") }
      #expect(own.count == result.seconds.count)
      let counts = try own.map { try EncodedCounts(base64: String($0[3])).counts.reduce(0, +) }
      #expect(counts.reduce(0, +) == 240)
      // Each interval begins at the end of the previous one.
      let starts = try own.map { try #require(Double($0[0])) }
      let ends = try own.map { try #require(Double($0[0])) + #require(Double($0[1])) }
      #expect(starts.first == 0)
      for (start, end) in zip(starts.dropFirst(), ends) { #expect(abs(start - end) < 0.002) }
    }
  }

  @Test("a run ends with the error when the log cannot be written")
  func unwritable() async throws {
    struct Full: Error {}
    let stage = try LoadStage()
    let server = try await stage.server { $0.succeed(ByteBuffer()) }
    let load = try stage.load(
      .closed(inFlight: 1), duration: .seconds(600),
      observer: RunObserver(log: IntervalLog { _ in throw Full() }))
    await #expect(throws: Full.self) { try await load.run() }
    await server.shutDown()
  }
}

/// Reads the output of ``HistogramEncoding`` according to the description of the format.
private struct EncodedCounts {
  var counts: [Int] = []

  struct Malformed: Error {
    let what: String
  }

  init(base64: String) throws {
    guard let data = Data(base64Encoded: base64) else { throw Malformed(what: "base64") }
    var compressed = ByteBuffer(bytes: data)
    guard compressed.readInteger(as: UInt32.self) == 0x1c84_9314,
      let length = compressed.readInteger(as: UInt32.self),
      compressed.readableBytes == Int(length)
    else { throw Malformed(what: "compressed header") }
    var payload = ByteBuffer(bytes: try Self.inflated(Array(compressed.readableBytesView)))
    guard payload.readInteger(as: UInt32.self) == 0x1c84_9313,
      let size = payload.readInteger(as: UInt32.self),
      payload.readInteger(as: UInt32.self) == 0, payload.readInteger(as: UInt32.self) == 3,
      payload.readInteger(as: UInt64.self) == 1,
      payload.readInteger(as: UInt64.self) == 3_600_000_000_000,
      payload.readInteger(as: UInt64.self) == (1.0).bitPattern,
      payload.readableBytes == Int(size)
    else { throw Malformed(what: "header") }
    while payload.readableBytes > 0 {
      let number = Self.zigZag(&payload)
      if number < 0 {
        counts += [Int](repeating: 0, count: -number)
      } else {
        counts.append(number)
      }
    }
  }

  private static func zigZag(_ bytes: inout ByteBuffer) -> Int {
    var (number, shift) = (0, 0)
    while let byte = bytes.readInteger(as: UInt8.self) {
      number |= Int(byte & 0x7f) << shift
      shift += 7
      if byte & 0x80 == 0 { break }
    }
    return number >> 1 ^ -(number & 1)
  }

  /// The contents of a zlib stream of stored blocks.
  static func inflated(_ stream: [UInt8]) throws -> [UInt8] {
    var rest = ByteBuffer(bytes: stream)
    var bytes: [UInt8] = []
    guard let header = rest.readInteger(as: UInt16.self), header % 31 == 0, header >> 8 == 0x78
    else { throw Malformed(what: "zlib header") }
    var isLast = false
    while !isLast {
      guard let kind = rest.readInteger(as: UInt8.self), kind <= 1,
        let length = rest.readInteger(endianness: .little, as: UInt16.self),
        rest.readInteger(endianness: .little, as: UInt16.self) == ~length,
        let block = rest.readBytes(length: Int(length))
      else { throw Malformed(what: "block") }
      bytes += block
      isLast = kind == 1
    }
    let sums = bytes.reduce(into: (1, 0)) { sums, byte in
      sums.0 = (sums.0 + Int(byte)) % 65_521
      sums.1 = (sums.1 + sums.0) % 65_521
    }
    guard rest.readInteger(as: UInt32.self) == UInt32(sums.1 << 16 | sums.0),
      rest.readableBytes == 0
    else { throw Malformed(what: "sum") }
    return bytes
  }
}
