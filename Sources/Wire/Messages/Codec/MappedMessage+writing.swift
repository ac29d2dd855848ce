import CEntitleMessages
import EntitlementDomain

// Makes values for fields of generated structures, as copies in the arena.
extension MappedMessage {
  /// - Throws: ``MessageError`` when the text contains a NUL, which a C string cannot contain.
  static func text(
    _ text: String, _ name: StaticString, in arena: MessageArena
  ) throws(MessageError) -> CText {
    let bytes = text.utf8
    guard let memory = arena.allocate(byteCount: bytes.count + 1) else {
      throw error(.arenaExhausted)
    }
    let characters = memory.bindMemory(to: CChar.self, capacity: bytes.count + 1)
    var index = 0
    for byte in bytes {
      guard byte != 0 else { throw error(.nullInText(field: name.description)) }
      characters[index] = CChar(bitPattern: byte)
      index += 1
    }
    characters[index] = 0
    return characters
  }

  static func text<Kind>(
    _ identifier: Identifier<Kind>, _ name: StaticString, in arena: MessageArena
  ) throws(MessageError) -> CText {
    try text(identifier.rawValue, name, in: arena)
  }

  /// An absent text becomes an empty one, which the encoder omits.
  static func text(
    _ text: String?, _ name: StaticString, in arena: MessageArena
  ) throws(MessageError) -> CText {
    try Self.text(text ?? "", name, in: arena)
  }

  static func text<Kind>(
    _ identifier: Identifier<Kind>?, _ name: StaticString, in arena: MessageArena
  ) throws(MessageError) -> CText {
    try text(identifier?.rawValue ?? "", name, in: arena)
  }

  static func texts(
    _ texts: [String], _ name: StaticString, in arena: MessageArena
  ) throws(MessageError) -> UnsafeMutablePointer<CText?> {
    let pointers = try array(of: CText?.self, count: texts.count, in: arena)
    for (index, text) in texts.enumerated() {
      (pointers + index).initialize(to: try Self.text(text, name, in: arena))
    }
    return pointers
  }

  /// Absent bytes become empty ones, which the encoder omits.
  static func bytes(
    _ bytes: [UInt8]?, in arena: MessageArena
  ) throws(MessageError) -> ProtobufCBinaryData {
    guard let bytes, !bytes.isEmpty else { return ProtobufCBinaryData() }
    let memory = try array(of: UInt8.self, count: bytes.count, in: arena)
    memory.initialize(from: bytes, count: bytes.count)
    return ProtobufCBinaryData(len: bytes.count, data: memory)
  }

  static func list<Part: MappedMessage>(
    _ parts: [Part], in arena: MessageArena
  ) throws(MessageError) -> UnsafeMutablePointer<UnsafeMutablePointer<Part.CMessage>?> {
    typealias Pointer = UnsafeMutablePointer<Part.CMessage>?
    let messages = try array(of: Pointer.self, count: parts.count, in: arena)
    for (index, part) in parts.enumerated() {
      (messages + index).initialize(to: try part.make(in: arena))
    }
    return messages
  }

  static func list<Value: MappedEnumeration>(
    _ values: [Value], in arena: MessageArena
  ) throws(MessageError) -> UnsafeMutablePointer<Value.CNumber> {
    let numbers = try array(of: Value.CNumber.self, count: values.count, in: arena)
    for (index, value) in values.enumerated() {
      (numbers + index).initialize(to: value.number)
    }
    return numbers
  }

  private static func array<Element>(
    of type: Element.Type, count: Int, in arena: MessageArena
  ) throws(MessageError) -> UnsafeMutablePointer<Element> {
    // The product cannot overflow: the count is that of an array in memory whose elements are at
    // least as large.
    let size = count * MemoryLayout<Element>.stride
    guard let memory = arena.allocate(byteCount: size) else { throw error(.arenaExhausted) }
    return memory.bindMemory(to: Element.self, capacity: count)
  }
}
