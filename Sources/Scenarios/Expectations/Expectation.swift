/// What a scenario expects of an answer, or of a part of it. Only what is named is compared.
struct Expectation: Hashable, Sendable {
  indirect enum Content: Hashable, Sendable {
    case absent
    case value(AnswerValue)
    /// As ``value``, shown as a moment.
    case moment(Int64)
    case texts([String])
    case object([Member])
    /// So many, in this order.
    case list([Expectation])
    /// The objects of these ids; others are not looked at.
    case named(by: String, [Member])
    /// Objects of these ids, and no others.
    case all(by: String, [Member])
  }

  struct Member: Hashable, Sendable {
    /// As the answer calls it.
    let name: String
    /// As the scenario calls it.
    let written: String
    /// Nil where nothing is expected of it but to be there.
    let expectation: Expectation?
  }

  /// In the file, from 1.
  let line: Int
  let content: Content

  /// The member of an object that this expectation names.
  func member(_ name: String) -> Expectation? {
    guard case .object(let members) = content else { return nil }
    return members.first { $0.name == name }?.expectation
  }

  /// The item of a list that this expectation names.
  func item(_ index: Int) -> Expectation? {
    guard case .list(let items) = content, items.indices.contains(index) else { return nil }
    return items[index]
  }
}
