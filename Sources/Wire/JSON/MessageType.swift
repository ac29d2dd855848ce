import CEntitleMessages
import EntitlementDomain
import Framing
import JSON
package import NIOCore

/// The type of a message of `Protos/`, given by its descriptor. Converts messages to JSON and back
/// without a Swift value in between.
///
/// The JSON is the standard mapping of proto3 (https://protobuf.dev/programming-guides/json): names
/// in lowerCamelCase, 64-bit numbers as strings, enumerations by name, bytes in base64, fields with
/// the default value omitted.
///
/// `@unchecked Sendable` holds because descriptors are constants of the program.
package struct MessageType: Hashable, @unchecked Sendable {
  let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

  /// Full name, such as `entitle.v1.CustomerState`.
  package var name: String { String(cString: descriptor.pointee.name) }

  init(descriptor: UnsafePointer<ProtobufCMessageDescriptor>) {
    self.descriptor = descriptor
  }

  /// A message that is not of `Protos/`, as in tests.
  ///
  /// - Parameter initialize: The `…__init` that protoc-c generated for it.
  package init<CMessage>(initialize: (UnsafeMutablePointer<CMessage>?) -> Void) {
    self = MessageShape(initialize).type
  }

  /// Nil when `Protos/` has no message of this name.
  package static func named(_ name: String) -> MessageType? { byName[name] }

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// Sorted by number.
  package var fields: [MessageField] {
    MessageJSONShape.of(self).fields.map { field in
      MessageField(
        name: field.jsonName, kind: field.kind, isRepeated: field.isRepeated,
        hasPresence: field.hasPresence)
    }
  }

  /// Converts a message to JSON without white space. Fields are in the order of their numbers.
  /// Unknown fields are omitted, so that an older program can read messages of a newer one. An
  /// enumeration value without a name is written as a number.
  ///
  /// - Parameters:
  /// - wire: the encoded message, in any form that protobuf allows.
  /// - limit: maximum length of the JSON, in bytes.
  /// - anyTypes: what an `Any` in the message may contain.
  /// - Throws: ``MessageJSONError``: ``MessageJSONError/Fault/message(_:)`` for bytes that a
  ///   decoder refuses, ``MessageJSONError/Fault/tooLong(limit:)`` beyond the limit.
  package func json(
    of wire: ByteBuffer, limit: Int = MessageJSONLimits.writtenLength, anyTypes: AnyTypes = .none
  ) throws(MessageJSONError) -> [UInt8] {
    let outcome = wire.withUnsafeReadableBytes { bytes in
      Result { () throws(MessageJSONError) -> [UInt8] in
        var writer = MessageJSONWriter(limit: limit, anyTypes: anyTypes)
        return try writer.json(of: bytes, self)
      }
    }
    return try outcome.get()
  }

  /// Converts a message from JSON to the bytes that libprotobuf-c would encode.
  ///
  /// Strict: refuses unknown fields, unknown names of enumeration values, duplicate names, fields
  /// that exclude each other, and numbers out of range. Field names may be in lowerCamelCase or as
  /// in `Protos/`, integers may be strings, enumeration values may be numbers, and base64 may have
  /// either alphabet and no padding. Null means an absent field.
  ///
  /// - Parameters:
  ///   - limit: maximum length of `json`, in bytes.
  ///   - values: maximum number of values in it.
  ///   - anyTypes: what an `Any` in the message may contain.
  /// - Throws: ``MessageJSONError``, which names the field and never contains a value.
  package func wire(
    ofJSON json: [UInt8], limit: Int = MessageJSONLimits.readLength, values: Int = .max,
    anyTypes: AnyTypes = .none
  ) throws(MessageJSONError) -> ByteBuffer {
    let document: JSONDocument
    do {
      document = try JSONDocument(json, lengthLimit: limit, valueLimit: values)
    } catch {
      throw MessageJSONError(.malformed(error.code, error.message), at: "", in: self)
    }
    var reader = MessageJSONReader(document, anyTypes: anyTypes)
    return ByteBuffer(bytes: try reader.wire(of: self))
  }
}

/// A field of a message, for programs that inspect its JSON.
package struct MessageField: Sendable {
  package enum Kind: Sendable {
    /// A text, or bytes in base64.
    case text
    /// A number; with 64 bits, a string that contains a number.
    case integer
    case floatingPoint
    case boolean
    /// One of these names, or a number without a name.
    case enumeration([String])
    case message(MessageType)
  }

  /// Name in lowerCamelCase.
  package let name: String
  package let kind: Kind
  package let isRepeated: Bool
  /// Whether an absent field differs from one with the default value.
  package let hasPresence: Bool
}

/// Limits of messages as JSON. `Protos/` bounds the nesting of objects, since unknown fields are
/// refused.
package enum MessageJSONLimits {
  /// Maximum length of JSON that is read, in bytes: the data of the longest frame in base64, and
  /// room for names. The parser takes up to 12 bytes of memory for each byte of hostile JSON.
  package static let readLength = 3 * RPCLimits.maximumFrameData / 2
  /// Maximum number of values of a request. The largest request that `Protos/` allows, an import of 500
  /// accounts, has 3,500. Converting a request of as many empty messages takes some milliseconds.
  package static let requestValues = 16_384
  /// Maximum length of JSON that is written, in bytes. Honest messages take up to five times their
  /// binary size. Without a limit, packed enumerations would take 45 times their size.
  package static let writtenLength = 8 * RPCLimits.maximumFrameData
}
