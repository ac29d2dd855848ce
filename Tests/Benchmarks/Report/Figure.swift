/// One row of a report: one number for each round.
struct Figure {
  let name: String
  /// The unit of the numbers, such as `µs` or `× echo`.
  let unit: String
  /// The target of the median; nil without one.
  let target: Target?
  var values = Measurement()

  init(_ name: String, unit: String, target: Target? = nil) {
    self.name = name
    self.unit = unit
    self.target = target
  }

  /// From existing measurements, also in rounds.
  init(_ name: String, unit: String, target: Target? = nil, values: Measurement) {
    self.init(name, unit: unit, target: target)
    self.values = values
  }

  mutating func add(_ value: Double) { values.add(value) }

  /// Nil without a target.
  var isMet: Bool? { target.map { $0.isMet(by: values.median) } }
}

extension Figure: Encodable {
  private enum CodingKeys: String, CodingKey {
    case name, unit, median, lowest, highest, rounds, target, met
  }

  private enum TargetKeys: String, CodingKey {
    case atMost = "at_most"
    case atLeast = "at_least"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(unit, forKey: .unit)
    try container.encode(values.median, forKey: .median)
    try container.encode(values.lowest, forKey: .lowest)
    try container.encode(values.highest, forKey: .highest)
    try container.encode(values.times.count, forKey: .rounds)
    try container.encodeIfPresent(isMet, forKey: .met)
    guard let target else { return }
    var bound = container.nestedContainer(keyedBy: TargetKeys.self, forKey: .target)
    switch target {
    case .atMost(let number): try bound.encode(number, forKey: .atMost)
    case .atLeast(let number): try bound.encode(number, forKey: .atLeast)
    }
  }
}
