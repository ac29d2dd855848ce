import ArgumentParser
import StoreSimulator

/// How customers are chosen for calls.
enum CustomerChoice: Hashable, Sendable {
  /// Few are asked for often: the exponent says how uneven it is.
  case zipf(exponent: Double)
  /// All alike.
  case uniform

  /// That of popular objects in caches, as the Yahoo Cloud Serving Benchmark has it.
  static let usual = CustomerChoice.zipf(exponent: 0.99)
  /// Beyond it nearly every call is for the first customer.
  static let exponents = 0.01...10.0
}

extension CustomerChoice: ExpressibleByArgument {
  init?(argument: String) {
    switch argument {
    case "uniform": self = .uniform
    case "zipf": self = .usual
    default:
      guard argument.hasPrefix("zipf:"), let exponent = Double(argument.dropFirst(5)),
        Self.exponents.contains(exponent)
      else { return nil }
      self = .zipf(exponent: exponent)
    }
  }

  var defaultValueDescription: String { "\(self)" }
}

extension CustomerChoice: CustomStringConvertible {
  var description: String {
    switch self {
    case .uniform: "uniform"
    case .zipf(let exponent): "zipf:\(exponent)"
    }
  }
}

/// Chooses customers by their index.
struct CustomerChooser: Sendable {
  private let count: Int
  private let zipf: ZipfDistribution?

  init(_ choice: CustomerChoice, count: Int) {
    self.count = count
    zipf =
      switch choice {
      case .uniform: nil
      case .zipf(let exponent): ZipfDistribution(count: count, exponent: exponent)
      }
  }

  func index(_ generator: inout SeededGenerator) -> Int {
    zipf?.rank(&generator) ?? generator.number(below: count)
  }
}
