import AppStorePayloads
import EntitlementDomain
import Foundation
import JSON
import Verification

/// The parser of JSON payloads: an accepted document has the same indented text and the same facts
/// after indentation, and Foundation accepts it too.
enum JSONProbe {
  private static let digest = PayloadDigest(words: (1, 2))

  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    guard let document = try? JSONDocument(input) else { return }
    let indented = document.indented()
    guard let again = try? JSONDocument(Array(indented.utf8)) else {
      throw BrokenInvariant("an indented JSON text can be parsed")
    }
    try require(again.indented() == indented, "a JSON text has one indented form")
    try checkOtherReader(input)
    guard let fields = try? PayloadFields(json: document.bytes) else { return }
    try checkFacts(input, indented: Array(indented.utf8))
    guard let fieldsAgain = try? PayloadFields(json: again.bytes) else {
      throw BrokenInvariant("an indented object is an object")
    }
    try require(
      SignedKind(detecting: fields) == SignedKind(detecting: fieldsAgain),
      "white space does not change a payload's kind")
    try checkNotification(fields, fieldsAgain)
  }

  private static func checkFacts(
    _ payload: [UInt8], indented: [UInt8]
  ) throws(BrokenInvariant) {
    for kind in FactKind.allCases {
      try require(
        fact(of: kind, in: payload) == fact(of: kind, in: indented),
        "white space does not change a \(kind)")
    }
  }

  private static func fact(of kind: FactKind, in payload: [UInt8]) -> Result<Fact, PayloadError> {
    Result { () throws(PayloadError) in
      try PayloadDecoder.fact(
        kind: kind, payload: payload, digest: digest, bundleID: "com.example.scribe")
    }
  }

  private static func checkNotification(
    _ fields: PayloadFields, _ again: PayloadFields
  ) throws(BrokenInvariant) {
    switch (notification(fields), notification(again)) {
    case (.success(let payload), .success(let other)):
      try require(
        payload.uuid == other.uuid && payload.subject == other.subject
          && payload.signedDate == other.signedDate
          && payload.signedTransactionInfo == other.signedTransactionInfo,
        "white space does not change a notification")
    case (.failure(let error), .failure(let other)):
      try require(error == other, "white space does not change why a notification is refused")
    default:
      throw BrokenInvariant("white space does not decide whether a notification is accepted")
    }
  }

  private static func notification(
    _ fields: PayloadFields
  ) -> Result<NotificationPayload, PayloadError> {
    Result { () throws(PayloadError) in try PayloadDecoder.notification(fields) }
  }

  /// Foundation refuses numbers beyond a `Double`. This parser refuses them only where an integer
  /// is expected.
  private static func checkOtherReader(_ input: [UInt8]) throws(BrokenInvariant) {
    guard !hasVastNumber(input) else { return }
    let object = try? JSONSerialization.jsonObject(
      with: Data(input), options: .fragmentsAllowed)
    try require(object != nil, "Foundation accepts the accepted JSON")
  }

  /// Whether the text has an exponent or a run of digits that may be such a number. Digits in
  /// strings count too.
  private static func hasVastNumber(_ input: [UInt8]) -> Bool {
    var digits = 0
    for byte in input {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        if digits > 0 { return true }
      default: digits = 0
      }
      if digits > 18 { return true }
    }
    return false
  }
}
