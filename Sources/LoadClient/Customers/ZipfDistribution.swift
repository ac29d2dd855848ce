import Foundation
import StoreSimulator

/// Ranks from 0 that are chosen in proportion to (rank + 1)^-exponent, each in constant time and
/// without tables: rejection-inversion (W. Hörmann, G. Derflinger, "Rejection-inversion to generate
/// variates from monotone discrete distributions", 1996).
struct ZipfDistribution: Sendable {
  private let count: Double
  private let exponent: Double
  private let integralOfFirst: Double
  private let integralOfLast: Double
  private let shortcut: Double

  /// - Parameters:
  ///   - count: of ranks, positive.
  ///   - exponent: positive.
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

  /// Of the weight, up to a constant; it holds for the exponent 1 too.
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
  /// From 0 to below 1.
  mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
