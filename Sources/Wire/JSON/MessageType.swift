import CEntitleMessages
import EntitlementDomain
package import NIOCore

/// A message of `Protos/`, known at run time by its descriptor: what turns its bytes into JSON and back
/// without a Swift value between.
///
/// The JSON is the standard mapping of proto3
/// (https://protobuf.dev/programming-guides/json): names in lowerCamelCase, 64-bit numbers as strings,
/// enumerations by name, bytes in base64, fields with the default value left out.
///
/// `@unchecked Sendable` holds because descriptors are constants of the program.
package struct MessageType: Hashable, @unchecked Sendable {
  let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

  /// Full name, such as `entitle.v1.CustomerState`.
  package var name: String { String(cString: descriptor.pointee.name) }

  /// Nil when `Protos/` have no such message.
  package static func named(_ name: String) -> MessageType? { byName[name] }

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// By number.
  package var fields: [MessageField] {
    MessageJSONShape.of(self).fields.map { field in
      MessageField(
        name: field.jsonName, kind: field.kind, isRepeated: field.isRepeated,
        hasPresence: field.hasPresence)
    }
  }

  /// The JSON of a message, without white space. Fields stand in the order of their numbers; those that are not known are
  /// left out, so that an older program reads what a newer one sends. A number of an enumeration that
  /// has no name is printed as a number.
  ///
  /// - Parameter wire: the message's bytes, in any form that protobuf allows.
  /// - Throws: ``MessageJSONError``: ``MessageJSONError/Fault/message(_:)`` for bytes that a decoder
  ///   refuses, ``MessageJSONError/Fault/tooLong(limit:)`` beyond `limit` bytes of JSON.
  package func json(
    of wire: ByteBuffer, limit: Int = MessageJSONLimits.writtenLength
  ) throws(MessageJSONError) -> [UInt8] {
    let outcome = wire.withUnsafeReadableBytes { bytes in
      Result { () throws(MessageJSONError) -> [UInt8] in
        var writer = MessageJSONWriter(limit: limit)
        return try writer.json(of: bytes, self)
      }
    }
    return try outcome.get()
  }

  /// The bytes of a message that is given as JSON, as libprotobuf-c encodes it.
  ///
  /// Strict: fields and names of enumerations that are not known, names that occur twice, fields that
  /// exclude each other, and numbers out of range are refused. Field names may be in lowerCamelCase or
  /// as in `Protos/`, integers may be strings, enumerations numbers, base64 of either alphabet and
  /// without padding; null is an absent field.
  ///
  /// - Throws: ``MessageJSONError``, which names the field and never holds a value.
  package func wire(
    ofJSON json: [UInt8], limit: Int = MessageJSONLimits.readLength
  ) throws(MessageJSONError) -> ByteBuffer {
    let document: JSONDocument
    do {
      document = try JSONDocument(json, lengthLimit: limit)
    } catch {
      throw MessageJSONError(.malformed(error.code, error.message), at: "", in: self)
    }
    var reader = MessageJSONReader(document)
    return ByteBuffer(bytes: try reader.wire(of: self))
  }
}

/// A field of a message, for those who look into its JSON.
package struct MessageField: Sendable {
  package enum Kind: Sendable {
    /// A text, or bytes in base64.
    case text
    /// A number, or from 64 bits a string that holds one.
    case integer
    case floatingPoint
    case boolean
    /// One of these names, or a number that has none.
    case enumeration([String])
    case message(MessageType)
  }

  /// In lowerCamelCase.
  package let name: String
  package let kind: Kind
  package let isRepeated: Bool
  /// Whether a field that is left out differs from one with the default value.
  package let hasPresence: Bool
}

/// Limits on messages as JSON, each with its unit and its reason. How deep objects nest is bounded by
/// `Protos/`, since fields that are not known are refused.
package enum MessageJSONLimits {
  /// Bytes of JSON that are read: the longest frame's data in base64, and room for names. The parser
  /// takes up to 12 bytes of memory for each byte of hostile JSON.
  package static let readLength = 3 * RPCLimits.maximumFrameData / 2
  /// Bytes of JSON that are written: honest messages take up to five times their size. Without a limit,
  /// packed enumerations would take 45 times their size.
  package static let writtenLength = 8 * RPCLimits.maximumFrameData
}
