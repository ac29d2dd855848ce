import EntitlementDomain

/// The numbers of some apps and environments in the tables. A number never changes.
struct ScopeNumbers: Sendable {
  private(set) var numbers: [AppScope: Int64] = [:]

  init() {}

  /// 0, which the tables give to none, for one that is not known.
  subscript(scope: AppScope) -> Int64 { numbers[scope] ?? 0 }

  var all: [Int64] { Array(numbers.values) }

  func number(of scope: AppScope) -> Int64? { numbers[scope] }

  func scope(of number: Int64) -> AppScope? { numbers.first { $0.value == number }?.key }

  mutating func add(_ scope: AppScope, _ number: Int64) { numbers[scope] = number }

  mutating func add(_ others: ScopeNumbers) { numbers.merge(others.numbers) { $1 } }
}
