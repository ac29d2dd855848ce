import Foundation
import NIOCore
import Wire

/// The JSON form of every message of `Protos/`: what can be read is written, reads the same again, and
/// is JSON to another reader too.
///
/// The first byte of an input chooses the message; the rest is its JSON or its bytes.
package enum MessageJSONProbe {
  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    guard let choice = input.first else { return }
    let type = MessageType.all[Int(choice) % MessageType.all.count]
    let content = Array(input.dropFirst())
    if let wire = try? type.wire(ofJSON: content) {
      try require(isJSON(content), "what is read as JSON is JSON to Foundation")
      try check(wire, type)
    }
    if let json = try? type.json(of: ByteBuffer(bytes: content)) {
      guard let wire = try? type.wire(ofJSON: json) else {
        throw BrokenInvariant("the JSON of a \(type.name) can be read")
      }
      try require((try? type.json(of: wire)) == json, "a \(type.name) has one JSON")
    }
  }

  private static func check(_ wire: ByteBuffer, _ type: MessageType) throws(BrokenInvariant) {
    guard let json = try? type.json(of: wire) else {
      throw BrokenInvariant("a \(type.name) that was read from JSON can be written")
    }
    try require(isJSON(json), "what is written is JSON to Foundation")
    try require(
      (try? type.wire(ofJSON: json)) == wire, "a \(type.name) reads the same from its JSON")
  }

  /// Foundation refuses numbers beyond a `Double`, which protobuf reads: 0e999 is zero.
  private static func isJSON(_ bytes: [UInt8]) -> Bool {
    if bytes.contains(UInt8(ascii: "e")) || bytes.contains(UInt8(ascii: "E")) { return true }
    return (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
  }

  /// - Returns: an input for a message as JSON; nil when it cannot be encoded.
  static func input<Message: WireMessage>(_ message: Message) -> [UInt8]? {
    guard let index = MessageType.all.firstIndex(of: Message.messageType),
      let json = try? message.jsonEncoded()
    else { return nil }
    return [UInt8(index)] + json
  }

  /// Whether an input is JSON that can be read.
  static func canRead(_ input: [UInt8]) -> Bool {
    guard let choice = input.first else { return false }
    let type = MessageType.all[Int(choice) % MessageType.all.count]
    return (try? type.wire(ofJSON: Array(input.dropFirst()))) != nil
  }
}
