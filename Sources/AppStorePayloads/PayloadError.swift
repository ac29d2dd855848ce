import JSON

/// The reason why a payload cannot be decoded. Messages contain field names and never values.
package struct PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The payload is not JSON (RFC 8259), or further bytes follow it.
    case malformedJSON
    /// A string is not valid UTF-8, or contains a lone surrogate; or an id contains a NUL
    /// character.
    case invalidText
    /// A name occurs twice in one object. JSON readers disagree about which value counts.
    case duplicateName
    /// The nesting exceeds ``JSONLimits/depth``.
    case tooDeep
    /// The text exceeds ``JSONLimits/length``, or has more purchases than are accepted.
    case tooLarge
    /// The outermost value is not an object.
    case notAnObject
    case missingField
    /// The JSON type of a field differs from Apple's documentation.
    case wrongType
    /// A number has a fraction or an exponent where Apple documents an integer. Dates of Xcode and
    /// LocalTesting may have both (R4).
    case notAnInteger
    /// An integer does not fit 64 bits.
    case outOfRange
    /// The payload contains no environment. Payloads of 2021 have none.
    case environmentAbsent
    /// The environment is not one of ``StoreEnvironment``.
    case environmentUnknown
    /// A document contradicts itself, or the app, environment or date that the caller gave for it.
    case contradiction
    /// A notification does not have exactly one of the members that name its subject.
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

  init(_ error: JSONError) {
    let code: Code =
      switch error.code {
      case .malformedJSON: .malformedJSON
      case .invalidText: .invalidText
      case .duplicateName: .duplicateName
      case .tooDeep: .tooDeep
      case .tooLarge: .tooLarge
      }
    self.init(code, error.message)
  }
}
