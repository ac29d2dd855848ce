import ArgumentParser
import StoreSimulator

/// The relative frequency of each kind of call: `hot=80,cold=15,absent=5`.
struct CallMix: Hashable, Sendable {
  /// Weights by kind; all positive.
  let weights: [CallKind: Double]
  private let shares: [Share]

  private struct Share: Hashable, Sendable {
    let kind: CallKind
    /// Cumulative share of this kind and the previous ones, from 0 to 1.
    let bound: Double
  }

  /// - Parameter weights: none negative, and not all 0.
  init(_ weights: [CallKind: Double]) {
    self.weights = weights.filter { $0.value > 0 }
    let total = weights.values.reduce(0, +)
    var sum = 0.0
    shares = CallKind.allCases.compactMap { kind in
      guard let weight = weights[kind], weight > 0 else { return nil }
      sum += weight
      return Share(kind: kind, bound: sum / total)
    }
  }

  var kinds: [CallKind] { shares.map(\.kind) }

  func kind(_ generator: inout SeededGenerator) -> CallKind {
    if shares.count == 1 { return shares[0].kind }
    let point = generator.fraction()
    // Rounding may leave the last bound below 1.
    return (shares.first { point < $0.bound } ?? shares[shares.count - 1]).kind
  }

  struct ParseError: Error, CustomStringConvertible {
    let description: String
  }

  init(parsing text: String) throws(ParseError) {
    var weights: [CallKind: Double] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let fields = part.split(separator: "=", omittingEmptySubsequences: false)
      guard fields.count == 2 else {
        throw ParseError(description: "\"\(part)\" is not KIND=WEIGHT")
      }
      guard let kind = CallKind.allCases.first(where: { $0.name == fields[0] }) else {
        let names = CallKind.allCases.map(\.name).joined(separator: ", ")
        throw ParseError(
          description: "\"\(fields[0])\" is not a kind of call; the kinds are \(names)")
      }
      guard weights[kind] == nil else {
        throw ParseError(description: "\(kind.name) occurs twice")
      }
      guard let weight = Double(fields[1]), weight >= 0, weight <= 1e9 else {
        throw ParseError(description: "the weight of \(kind.name) is not a number from 0 to 1e9")
      }
      weights[kind] = weight
    }
    guard weights.values.contains(where: { $0 > 0 }) else {
      throw ParseError(description: "no kind has a weight above 0")
    }
    self.init(weights)
  }
}

extension CallMix: CustomStringConvertible {
  var description: String {
    CallKind.allCases.compactMap { kind in
      weights[kind].map { weight in
        let number = weight == weight.rounded() ? "\(Int(weight))" : "\(weight)"
        return "\(kind.name)=\(number)"
      }
    }.joined(separator: ",")
  }
}
