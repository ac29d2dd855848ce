/// Why the bytes of a payload are not what the App Store signs. It names fields, never their
/// values.
package struct PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// Not JSON as RFC 8259 defines it, or bytes follow it.
    case malformedJSON
    /// A string that is not UTF-8, or holds half of a surrogate pair.
    case invalidText
    /// A name occurs twice in one object: readers disagree on which value counts.
    case duplicateName
    /// Over ``JSONLimits/depth``.
    case tooDeep
    /// Over ``JSONLimits/length``.
    case tooLarge
    /// The payload as a whole is not an object.
    case notAnObject
    case missingField
    /// A field has another JSON type than Apple documents.
    case wrongType
    /// A number has a fraction or an exponent where Apple documents an integer.
    case notAnInteger
    /// An integer does not fit 64 bits.
    case outOfRange
    /// The payload carries no environment, as those of 2021.
    case environmentAbsent
    /// An environment that is not one of ``StoreEnvironment``.
    case environmentUnknown
    /// A notification with none, or more than one, of the fields of which one is present.
    case ambiguousContent
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }

  init(_ code: Code, field: StaticString, _ reason: String) {
    self.init(code, "\(field) \(reason)")
  }
}
