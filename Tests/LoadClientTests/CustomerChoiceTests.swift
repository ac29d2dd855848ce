import Foundation
import StoreSimulator
import Testing

@testable import LoadClient

@Suite("Choice of customers")
struct CustomerChoiceTests {
  private func frequencies(_ choice: CustomerChoice, of count: Int, draws: Int) -> [Double] {
    let chooser = CustomerChooser(choice, count: count)
    var generator = SeededGenerator(seed: 11)
    var counts = [Int](repeating: 0, count: count)
    for _ in 0..<draws { counts[chooser.index(&generator)] += 1 }
    return counts.map { Double($0) / Double(draws) }
  }

  @Test("zipf gives each rank its share", arguments: [0.5, 0.99, 1.0, 1.5])
  func zipf(exponent: Double) {
    let count = 50
    let found = frequencies(.zipf(exponent: exponent), of: count, draws: 400_000)
    let weights = (1...count).map { pow(Double($0), -exponent) }
    let total = weights.reduce(0, +)
    for (rank, weight) in weights.enumerated() {
      let share = weight / total
      // Six standard deviations.
      let tolerance = 6 * (share * (1 - share) / 400_000).squareRoot()
      #expect(abs(found[rank] - share) < tolerance, "rank \(rank)")
    }
  }

  @Test("uniform gives all the same share")
  func uniform() {
    for share in frequencies(.uniform, of: 20, draws: 200_000) {
      #expect(abs(share - 0.05) < 0.003)
    }
  }

  @Test("a single customer is always chosen", arguments: [CustomerChoice.uniform, .usual])
  func one(choice: CustomerChoice) {
    #expect(frequencies(choice, of: 1, draws: 100) == [1])
  }

  @Test("a written choice can be parsed")
  func parsing() {
    #expect(CustomerChoice(argument: "uniform") == .uniform)
    #expect(CustomerChoice(argument: "zipf") == .zipf(exponent: 0.99))
    #expect(CustomerChoice(argument: "zipf:1.2") == .zipf(exponent: 1.2))
    for text in ["", "zipf:", "zipf:0", "zipf:-1", "zipf:11", "zipf:nan", "pareto"] {
      #expect(CustomerChoice(argument: text) == nil, "\(text)")
    }
  }
}
