import Foundation
import NIOCore
import Wire

/// The JSON form of every message of `Protos/`: a decoded message can be encoded, decodes to the
/// same again, and Foundation accepts its JSON.
///
/// The first byte of an input chooses the message; the rest is its JSON or its encoding.
package enum MessageJSONProbe {
  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    guard let choice = input.first else { return }
    let type = MessageType.all[Int(choice) % MessageType.all.count]
    let content = Array(input.dropFirst())
    if let wire = try? type.wire(ofJSON: content) {
      try require(isJSON(content), "Foundation accepts the decoded JSON")
      try check(wire, type)
    }
    if let json = try? type.json(of: ByteBuffer(bytes: content)) {
      guard let wire = try? type.wire(ofJSON: json) else {
        throw BrokenInvariant("the JSON of a \(type.name) can be decoded")
      }
      try require((try? type.json(of: wire)) == json, "a \(type.name) has one JSON")
    }
  }

  private static func check(_ wire: ByteBuffer, _ type: MessageType) throws(BrokenInvariant) {
    guard let json = try? type.json(of: wire) else {
      throw BrokenInvariant("a \(type.name) decoded from JSON can be encoded")
    }
    try require(isJSON(json), "Foundation accepts the encoded JSON")
    try require(
      (try? type.wire(ofJSON: json)) == wire, "a \(type.name) is the same from its JSON")
  }

  /// Foundation refuses numbers beyond a `Double` that protobuf accepts: 0e999 is zero.
  private static func isJSON(_ bytes: [UInt8]) -> Bool {
    if bytes.contains(UInt8(ascii: "e")) || bytes.contains(UInt8(ascii: "E")) { return true }
    return (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
  }

  /// - Returns: the input for a message as JSON; nil when it cannot be encoded.
  static func input<Message: WireMessage>(_ message: Message) -> [UInt8]? {
    guard let index = MessageType.all.firstIndex(of: Message.messageType),
      let json = try? message.jsonEncoded()
    else { return nil }
    return [UInt8(index)] + json
  }

  /// Whether an input is valid JSON of its message.
  static func canRead(_ input: [UInt8]) -> Bool {
    guard let choice = input.first else { return false }
    let type = MessageType.all[Int(choice) % MessageType.all.count]
    return (try? type.wire(ofJSON: Array(input.dropFirst()))) != nil
  }
}
