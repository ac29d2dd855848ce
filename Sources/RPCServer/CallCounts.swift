package import Framing
import NIOCore

/// The time from the arrival of a request to its answer, in buckets.
package enum CallDuration {
  /// The inclusive upper bounds of the buckets, in microseconds; one more bucket has no bound. The first
  /// ones divide reads from memory, the next ones reads of the store, and the last ones what times out.
  package static let bounds = [
    25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 10_000_000,
  ]

  static func bucket(of duration: TimeAmount) -> Int {
    bounds.firstIndex { duration.nanoseconds <= Int64($0) * 1_000 } ?? bounds.count
  }
}

/// The calls of a connection that have finished since the server took them: a short list, as there
/// are many connections and most have finished none. A run of answers in place is one entry, so that
/// it costs the same however many they are, and usually the only one.
struct FinishedCalls {
  fileprivate struct Entry {
    /// Nil if it is not known.
    var method: Int?
    var code: RPCCode
    var bucket: Int
    var count: Int
    var nanoseconds: Int64
  }

  /// Apart from the others, so that one entry needs no allocation.
  fileprivate var latest = Entry(method: nil, code: .ok, bucket: 0, count: 0, nanoseconds: 0)
  fileprivate var others: [Entry] = []

  /// - Parameters:
  ///   - method: The index into ``MethodTable/methods``; nil if it is not known.
  ///   - duration: Of each of them.
  mutating func add(
    _ count: Int, of method: Int?, _ code: RPCCode, lasting duration: TimeAmount
  ) {
    let bucket = CallDuration.bucket(of: duration)
    let nanoseconds = max(0, duration.nanoseconds) &* Int64(count)
    if latest.method == method, latest.code == code, latest.bucket == bucket {
      latest.count += count
      latest.nanoseconds &+= nanoseconds
      return
    }
    if latest.count > 0 { others.append(latest) }
    latest = Entry(
      method: method, code: code, bucket: bucket, count: count, nanoseconds: nanoseconds)
  }
}

/// Numbers of finished calls of each front.
package struct CallCountsOfFronts: Hashable, Sendable {
  private var counts = CallFront.allCases.map { _ in CallCounts() }

  package internal(set) subscript(front: CallFront) -> CallCounts {
    get { counts[front.rawValue] }
    set { counts[front.rawValue] = newValue }
  }

  /// The calls with this code.
  package subscript(code: RPCCode) -> Int { counts.reduce(0) { $0 + $1[code] } }

  package var total: Int { counts.reduce(0) { $0 + $1.total } }

  /// Adds the calls of a connection and resets them.
  mutating func take(_ calls: inout FinishedCalls, of front: CallFront) {
    counts[front.rawValue].take(&calls)
  }
}

/// Numbers of finished calls by method, by status code and by duration.
package struct CallCounts: Hashable, Sendable {
  private static let codes = RPCCode.allCases.count
  /// A row has the numbers by code, those by bucket, and the sum of the durations in nanoseconds.
  private static let rowLength = codes + CallDuration.bounds.count + 2

  /// The rows one after the other: first calls whose method is not known, then by method. A row
  /// begins when its method is first called.
  private var rows: [Int] = []

  package init() {}

  /// The calls with this code.
  package subscript(code: RPCCode) -> Int {
    stride(from: 0, to: rows.count, by: Self.rowLength).reduce(0) {
      $0 + rows[$1 + Int(code.rawValue)]
    }
  }

  /// - Parameter method: The index into ``MethodTable/methods``; nil: calls whose method is not known.
  package subscript(method: Int?, code: RPCCode) -> Int {
    row(method).map { rows[$0 + Int(code.rawValue)] } ?? 0
  }

  package var total: Int {
    RPCCode.allCases.reduce(0) { $0 + self[$1] }
  }

  /// The calls of a method in each bucket of ``CallDuration``, and the sum of their durations in
  /// nanoseconds.
  package func durations(of method: Int?) -> (counts: [Int], nanoseconds: Int) {
    guard let row = row(method) else {
      return (Array(repeating: 0, count: CallDuration.bounds.count + 1), 0)
    }
    let end = row + Self.rowLength - 1
    return (Array(rows[row + Self.codes..<end]), rows[end])
  }

  /// Where the row of a method begins; nil if it was not called.
  private func row(_ method: Int?) -> Int? {
    let start = Self.start(of: method)
    return start < rows.count ? start : nil
  }

  private static func start(of method: Int?) -> Int {
    (method.map { $0 + 1 } ?? 0) * rowLength
  }

  /// Adds the calls of a connection and resets them.
  mutating func take(_ calls: inout FinishedCalls) {
    if calls.latest.count > 0 {
      add(calls.latest)
      calls.latest.count = 0
      calls.latest.nanoseconds = 0
    }
    if !calls.others.isEmpty {
      for entry in calls.others { add(entry) }
      calls.others = []
    }
  }

  private mutating func add(_ entry: FinishedCalls.Entry) {
    let row = Self.start(of: entry.method)
    if row >= rows.count {
      rows += Array(repeating: 0, count: row + Self.rowLength - rows.count)
    }
    rows[row + Int(entry.code.rawValue)] += entry.count
    rows[row + Self.codes + entry.bucket] += entry.count
    rows[row + Self.rowLength - 1] &+= Int(entry.nanoseconds)
  }
}
