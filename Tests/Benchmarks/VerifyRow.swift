/// The measurements of one load, and its row of the table.
struct VerifyRow {
  let name: String
  let load: any VerifyLoad
  /// The minimum ratio; nil without a target.
  let target: Double?
  /// Microseconds of processor time per verification.
  private var costs = Measurement()
  /// Verifications in the time of one by openssl, on as many processors as there are workers.
  private var ratios = Measurement()
  /// Verifications per second of the clock: fewer when other programs use the processors.
  private var rates = Measurement()

  init(name: String, load: any VerifyLoad, target: Double?) {
    self.name = name
    self.load = load
    self.target = target
  }

  /// - Parameter bound: microseconds of processor time of one verification by openssl, in the same
  ///   round.
  mutating func measure(for duration: Duration, beside bound: Double) async throws {
    let clock = ContinuousClock()
    let started = clock.now
    let used = ProcessorTime.used
    let count = try await load.run(until: started + duration)
    let cost = (ProcessorTime.used - used) / Double(count)
    costs.add(cost)
    ratios.add(Double(load.workers) * bound / cost)
    rates.add(Double(count) / (started.duration(to: clock.now) / .seconds(1)))
  }

  /// Microseconds of processor time for each of the equal parts of a verification.
  func costs(ofEach count: Int) -> Measurement {
    costs.times.reduce(into: Measurement()) { $0.add($1 / Double(count)) }
  }

  /// The row as part of a JSON report.
  var figures: [Figure] {
    [
      Figure(name, unit: "µs", values: costs),
      Figure(name, unit: "× openssl", target: target.map(Target.atLeast), values: ratios),
      Figure(name, unit: "a second", values: rates),
    ]
  }

  static let head = line(
    "", ["µs, median", "lowest", "highest", "a second", "× openssl", "lowest", "highest"],
    "target")

  /// The row of the baseline.
  static func bound(_ name: String, _ costs: Measurement) -> String {
    line(name, spread(costs, digits: 1) + [text(1e6 / costs.median, digits: 0)], "")
  }

  var line: String {
    let numbers =
      Self.spread(costs, digits: 1) + [Self.text(rates.median, digits: 0)]
      + Self.spread(ratios, digits: 2)
    let verdict = target.map { target in
      Self.text(target, digits: 2) + (ratios.median >= target ? "  met" : "  missed")
    }
    return Self.line(name, numbers, verdict ?? "")
  }

  private static func spread(_ measurement: Measurement, digits: Int) -> [String] {
    [measurement.median, measurement.lowest, measurement.highest].map { text($0, digits: digits) }
  }

  private static func line(_ name: String, _ columns: [String], _ end: String) -> String {
    let padded = columns.map { String(repeating: " ", count: max(1, 11 - $0.count)) + $0 }
    let text = name + String(repeating: " ", count: max(1, 26 - name.count)) + padded.joined()
    return end.isEmpty ? text : text + "   " + end
  }

  private static func text(_ number: Double, digits: Int) -> String {
    let scale = digits == 0 ? 1 : digits == 1 ? 10 : 100
    let scaled = Int((number * Double(scale)).rounded())
    if digits == 0 { return "\(scaled)" }
    let fraction = "\(scaled % scale)"
    return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
