/// The target of a row.
enum Target: Hashable {
  case atMost(Double)
  case atLeast(Double)

  func isMet(by figure: Double) -> Bool {
    switch self {
    case .atMost(let bound): figure <= bound
    case .atLeast(let bound): figure >= bound
    }
  }
}

extension Target: CustomStringConvertible {
  var description: String {
    switch self {
    case .atMost(let bound): "≤ \(bound)"
    case .atLeast(let bound): "≥ \(bound)"
    }
  }
}
