/// A numbered domain rule, such as R19.
package struct Rule: Hashable, Sendable, CustomStringConvertible {
  package let number: Int

  package init(_ number: Int) {
    self.number = number
  }

  package var description: String { "R\(number)" }
}

extension Rule: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int) {
    self.init(value)
  }
}
