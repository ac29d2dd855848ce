import EntitlementDomain
import Yams

/// A fact as it is written, before defaults.
struct FactDraft {
  let path: String
  let line: Int
  /// By Apple's name; nil where `null` leaves a field out.
  var fields: [String: (value: PayloadValue?, line: Int)] = [:]
  /// Signed as they are written, over everything else.
  var extra = PayloadObject()

  /// A moment that the draft names, so that a step can take its own from it.
  func moment(_ name: String) -> Milliseconds? {
    guard case .number(let text) = fields[name]?.value else { return nil }
    return Int64(text).map { Milliseconds($0) }
  }

  func text(_ name: String) -> String? {
    guard case .text(let text) = fields[name]?.value else { return nil }
    return text
  }
}
