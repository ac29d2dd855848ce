/// Measurements compared with one algorithm of `openssl speed`.
struct VerifyTable {
  let title: String
  let bound: OpenSSLSpeed
  var rows: [VerifyRow]
  private var bounds = Measurement()

  init(title: String, bound: OpenSSLSpeed, rows: [VerifyRow]) {
    self.title = title
    self.bound = bound
    self.rows = rows
  }

  /// - Parameter seconds: how long each load is measured, and openssl too.
  mutating func measureRound(seconds: Int) async throws {
    let cost = 1e6 / (try bound.verificationsPerSecond(seconds: seconds))
    bounds.add(cost)
    for index in rows.indices {
      try await rows[index].measure(for: .seconds(seconds), beside: cost)
    }
  }

  func print() {
    Swift.print(title)
    Swift.print(VerifyRow.head)
    Swift.print(VerifyRow.bound("openssl speed \(bound.rawValue)", bounds))
    for row in rows { Swift.print(row.line) }
    Swift.print()
  }

  /// The table as part of a JSON report.
  var part: Report.Part {
    let bound = Figure("openssl speed \(bound.rawValue)", unit: "µs", values: bounds)
    return Report.Part(title, [bound] + rows.flatMap(\.figures))
  }
}
