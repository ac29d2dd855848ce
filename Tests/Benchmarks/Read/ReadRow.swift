/// The measurements of one server.
struct ReadRow {
  enum Role {
    /// The bare echo, the baseline of the others.
    case bound
    case other
    /// The server with targets.
    case service
    /// The same service with a token, with TLS, or with both. Compared with itself without.
    case token, encrypted, encryptedWithToken

    /// Whether it is compared with the service itself.
    var isVariant: Bool {
      switch self {
      case .token, .encrypted, .encryptedWithToken: true
      case .bound, .other, .service: false
      }
    }
  }

  private let shape: ReadShape
  private var quantity: Figure
  private var ratio: Figure?
  /// Processor time of the server per call, where another quantity is measured.
  private var processorTime: Figure?
  private var rate: Figure
  /// Calls per read and write of the client; nil with one in flight.
  private var batch: Figure?

  init(_ name: String, _ shape: ReadShape, _ role: Role) {
    self.shape = shape
    quantity = Figure(name, unit: "µs")
    rate = Figure(name, unit: "calls/s")
    if shape.quantity == .medianLatency { processorTime = Figure(name, unit: "µs of server") }
    if shape.inFlight > 1 { batch = Figure(name, unit: "calls/read") }
    if role != .bound {
      let target: Double? =
        switch role {
        case .service: shape.target
        case .token: shape.tokenTarget
        case .encrypted: shape.encryptedTarget
        case .bound, .other, .encryptedWithToken: nil
        }
      ratio = Figure(
        name, unit: role.isVariant ? "× plain" : "× echo", target: target.map(Target.atMost))
    }
  }

  /// - Returns: the compared number.
  mutating func add(_ round: ReadContender.Round, beside bound: Double?) -> Double {
    let value =
      switch shape.quantity {
      case .processorTime: round.processorTime
      case .medianLatency: round.result.latencies.median
      }
    quantity.add(value)
    if let bound { ratio?.add(value / bound) }
    processorTime?.add(round.processorTime)
    rate.add(round.rate)
    batch?.add(Double(round.result.answers) / Double(round.result.reads))
    return value
  }

  var figures: [Figure] { [quantity, ratio, processorTime, rate, batch].compactMap(\.self) }
}
