import ArgumentParser
import Foundation
import Wire

/// The output format. Messages have the JSON form of `Protos/`; other documents follow the same
/// conventions.
struct OutputOptions: ParsableArguments {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
    case jsonl
  }

  @Option(help: "table, json or jsonl (one JSON document a line).")
  var output: Format = .table

  /// Prints messages: as a JSON array, as JSON lines, or as the text that `table` returns.
  func write<Message: WireMessage>(
    _ messages: [Message], table: ([Message]) -> String
  ) throws {
    if output == .table { return try StandardOutput.write(table(messages)) }
    try write(array: try messages.map { try $0.jsonEncoded() })
  }

  /// Prints one message.
  func write<Message: WireMessage>(_ message: Message, table: (Message) -> String) throws {
    if output == .table { return try StandardOutput.write(table(message)) }
    try write(object: try message.jsonEncoded())
  }

  /// Prints documents that are not messages, like ``write(_:table:)``. Members are in alphabetical
  /// order.
  func write<Document: Encodable>(
    documents: [Document], table: ([Document]) -> String
  ) throws {
    if output == .table { return try StandardOutput.write(table(documents)) }
    try write(array: try documents.map { try Self.json($0) })
  }

  /// Prints one document that is not a message.
  func write<Document: Encodable>(document: Document, table: (Document) -> String) throws {
    if output == .table { return try StandardOutput.write(table(document)) }
    try write(object: try Self.json(document))
  }

  private func write(array elements: [[UInt8]]) throws {
    guard output == .json else {
      for element in elements { try write(object: element) }
      return
    }
    let array = [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")])
    try StandardOutput.write(Self.indented(array + [UInt8(ascii: "]")]))
  }

  private func write(object: [UInt8]) throws {
    try StandardOutput.write(
      output == .json ? Self.indented(object) : String(decoding: object, as: UTF8.self))
  }

  private static func json(_ document: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(document))
  }

  /// Indents JSON that has no white space: one line for each member and element, two spaces a
  /// level.
  static func indented(_ json: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(json.count * 2)
    var level = 0
    var isInString = false
    var isEscaped = false
    func breakLine() {
      text.append(UInt8(ascii: "\n"))
      text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }
    for (index, byte) in json.enumerated() {
      if isInString {
        text.append(byte)
        isInString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        text.append(byte)
        level += 1
        // The closing byte is two after the opening one in ASCII, for both kinds.
        if index + 1 < json.count, json[index + 1] != byte + 2 { breakLine() }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        level -= 1
        if index > 0, json[index - 1] != byte - 2 { breakLine() }
        text.append(byte)
      case UInt8(ascii: ","):
        text.append(byte)
        breakLine()
      case UInt8(ascii: ":"):
        text.append(contentsOf: ": ".utf8)
      default:
        isInString = byte == UInt8(ascii: "\"")
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
