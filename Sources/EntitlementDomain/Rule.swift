/// A numbered domain rule, such as R19.
public struct Rule: Hashable, Sendable, CustomStringConvertible {
  public let number: Int

  public init(_ number: Int) {
    self.number = number
  }

  public var description: String { "R\(number)" }
}

extension Rule: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) {
    self.init(value)
  }
}
