/// What was measured of one server.
struct ReadRow {
  private let shape: ReadShape
  private var quantity: Figure
  private var ratio: Figure?
  private var rate: Figure
  /// How many calls shared a read and a write of the client; nil with one in flight.
  private var batch: Figure?

  /// - Parameters:
  ///   - bound: what it is compared with; nil for that itself.
  ///   - isService: whether the target is its own. Targets are to the bare echo alone.
  init(_ name: String, _ shape: ReadShape, beside bound: EchoServer?, isService: Bool) {
    self.shape = shape
    quantity = Figure(name, unit: "µs")
    rate = Figure(name, unit: "calls/s")
    if shape.inFlight > 1 { batch = Figure(name, unit: "calls/read") }
    if let bound {
      ratio = Figure(
        name, unit: bound.isBare ? "× echo" : "× NIO echo",
        target: bound.isBare && isService ? shape.target.map(Target.atMost) : nil)
    }
  }

  /// - Returns: what is compared.
  mutating func add(_ round: ReadContender.Round, beside bound: Double?) -> Double {
    let value =
      switch shape.quantity {
      case .processorTime: round.processorTime
      case .medianLatency: round.result.latencies.median
      }
    quantity.add(value)
    if let bound { ratio?.add(value / bound) }
    rate.add(round.rate)
    batch?.add(Double(round.result.answers) / Double(round.result.reads))
    return value
  }

  var figures: [Figure] { [quantity, ratio, rate, batch].compactMap(\.self) }
}
