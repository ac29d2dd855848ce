import ArgumentParser
import Foundation
import StoreSimulator

/// How customers are chosen for calls.
enum CustomerChoice: Hashable, Sendable {
  /// A few customers get most calls; a larger exponent is more uneven.
  case zipf(exponent: Double)
  /// All customers have the same probability.
  case uniform

  /// The default of the Yahoo Cloud Serving Benchmark, typical for objects in caches.
  static let usual = CustomerChoice.zipf(exponent: 0.99)
  /// Above this range nearly every call is for the first customer.
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

/// Chooses ranks from 0, with probabilities proportional to (rank + 1)^-exponent, in constant time
/// and without tables. Algorithm: rejection-inversion (W. Hörmann, G. Derflinger,
/// "Rejection-inversion to generate variates from monotone discrete distributions", 1996).
struct ZipfDistribution: Sendable {
  private let count: Double
  private let exponent: Double
  private let integralOfFirst: Double
  private let integralOfLast: Double
  private let shortcut: Double

  /// - Parameters:
  /// - count: number of ranks; positive.
  /// - exponent: positive.
  init(count: Int, exponent: Double) {
    self.count = Double(count)
    self.exponent = exponent
    integralOfFirst = Self.integral(1.5, exponent) - 1
    integralOfLast = Self.integral(self.count + 0.5, exponent)
    shortcut =
      2
      - Self.inverse(
        Self.integral(2.5, exponent) - Self.weight(2, exponent), exponent)
  }

  func rank(_ generator: inout SeededGenerator) -> Int {
    while true {
      let point = integralOfLast + generator.fraction() * (integralOfFirst - integralOfLast)
      let position = Self.inverse(point, exponent)
      let rank = min(max(position.rounded(), 1), count)
      if rank - position <= shortcut
        || point >= Self.integral(rank + 0.5, exponent) - Self.weight(rank, exponent)
      {
        return Int(rank) - 1
      }
    }
  }

  private static func weight(_ position: Double, _ exponent: Double) -> Double {
    exp(-exponent * log(position))
  }

  /// Integral of the weight, up to a constant. Also valid for the exponent 1.
  private static func integral(_ position: Double, _ exponent: Double) -> Double {
    let logarithm = log(position)
    let factor = (1 - exponent) * logarithm
    return (abs(factor) > 1e-8 ? expm1(factor) / factor : 1 + factor / 2) * logarithm
  }

  private static func inverse(_ value: Double, _ exponent: Double) -> Double {
    // Below -1 only by rounding.
    let factor = max(value * (1 - exponent), -1)
    return exp((abs(factor) > 1e-8 ? log1p(factor) / factor : 1 - factor / 2) * value)
  }
}

extension SeededGenerator {
  /// A number from 0 to below 1.
  mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
