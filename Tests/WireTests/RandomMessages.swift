import CEntitleMessages
import Framing
import Glibc
import NIOCore
import TestSupport

@testable import Wire

extension MessageType {
  /// Bytes of a random message in any form that protobuf allows: fields in any order, packed and
  /// unpacked numbers, values that later ones replace, messages in several parts, default values,
  /// enumeration numbers without names, and unknown fields.
  func randomWire(using generator: inout SeededRandom, level: Int = 1) -> [UInt8] {
    var parts: [[UInt8]] = []
    for field in MessageJSONShape.of(self).fields where Int.random(in: 0..<4, using: &generator) > 0
    {
      if field.message != nil {
        if level > 3 { continue }
        // Of a message field that is not repeated, readers merge the occurrences.
        let isSplit = Int.random(in: 0..<4, using: &generator) == 0
        let count = field.isRepeated ? Int.random(in: 0..<3, using: &generator) : isSplit ? 2 : 1
        for _ in 0..<count {
          parts.append(field.wire(using: &generator, level: level))
        }
      } else if field.isRepeated, field.wireType != .length, Bool.random(using: &generator) {
        var numbers = MessageBytes()
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
          numbers = numbers.raw(field.randomNumber(using: &generator))
        }
        parts.append(MessageBytes().field(UInt64(field.number), bytes: numbers.bytes).bytes)
      } else {
        let most = field.isRepeated ? 4 : 2
        for _ in 0..<Int.random(in: 1...most, using: &generator) {
          parts.append(field.wire(using: &generator, level: level))
        }
      }
    }
    if Bool.random(using: &generator) {
      parts.append(MessageBytes().field(5_000, text: "unknown").bytes)
      parts.append(MessageBytes().tag(5_001, 1).raw([1, 2, 3, 4, 5, 6, 7, 8]).bytes)
    }
    if Int.random(in: 0..<4, using: &generator) == 0 { parts.shuffle(using: &generator) }
    return Array(parts.joined())
  }
}

extension MessageJSONField {
  fileprivate func wire(using generator: inout SeededRandom, level: Int) -> [UInt8] {
    let bytes = MessageBytes().tag(UInt64(number), UInt64(wireType.rawValue))
    guard wireType == .length else { return bytes.raw(randomNumber(using: &generator)).bytes }
    let content: [UInt8] =
      if let message {
        message.randomWire(using: &generator, level: level + 1)
      } else if type == PROTOBUF_C_TYPE_STRING {
        Array(randomString(using: &generator).utf8)
      } else {
        generator.bytes(upTo: 8)
      }
    return bytes.number(UInt64(content.count)).raw(content).bytes
  }

  fileprivate func randomNumber(using generator: inout SeededRandom) -> [UInt8] {
    let edges: [UInt64] = [
      0, 1, 127, 128, UInt64(Int32.max), UInt64(UInt32.max), UInt64(Int64.max), .max,
      UInt64(bitPattern: Int64(Int32.min)), UInt64(bitPattern: Int64.min),
    ]
    var number =
      Bool.random(using: &generator)
      ? edges.randomElement(using: &generator)!
      : UInt64.random(in: .min ... .max, using: &generator)
    switch type {
    case PROTOBUF_C_TYPE_ENUM:
      // Mostly numbers with names.
      if Int.random(in: 0..<4, using: &generator) > 0 {
        number = UInt64.random(in: 0..<10, using: &generator)
      } else {
        number = UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: number)))
      }
    case PROTOBUF_C_TYPE_INT32:
      number = UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: number)))
    case PROTOBUF_C_TYPE_SINT32, PROTOBUF_C_TYPE_UINT32:
      number = UInt64(UInt32(truncatingIfNeeded: number))
    case PROTOBUF_C_TYPE_BOOL:
      number = UInt64.random(in: 0...1, using: &generator)
    case PROTOBUF_C_TYPE_FLOAT:
      number = UInt64(Float(Int.random(in: -1_000...1_000, using: &generator)).bitPattern)
    case PROTOBUF_C_TYPE_DOUBLE:
      let value = Double.random(in: -1e300...1e300, using: &generator)
      number = [value, 0.5, -1, 1e-300, .infinity].randomElement(using: &generator)!.bitPattern
    default: break
    }
    switch wireType {
    case .fourBytes: return (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    case .eightBytes: return (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    case .number, .length: return MessageBytes().number(number).bytes
    }
  }

  private func randomString(using generator: inout SeededRandom) -> String {
    if Int.random(in: 0..<4, using: &generator) == 0 {
      return ["", "\"", "\\", "/<>&", "\u{1}\u{8}\t\n\u{c}\r\u{1f}\u{7f}", "\u{2028}"]
        .randomElement(using: &generator)!
    }
    return randomText(using: &generator)
  }
}

extension MessageType {
  /// `entitle.test.Kinds` of Tests/ProtobufOracle/kinds.proto: every kind of field. Written by
  /// hand, since only messages of the product have generated descriptors. Never freed.
  static let kinds: MessageType = {
    let message = UnsafeMutablePointer<ProtobufCMessageDescriptor>.allocate(capacity: 1)
    message.initialize(to: ProtobufCMessageDescriptor())
    typealias Kind = (String, ProtobufCType, ProtobufCLabel)
    let once = PROTOBUF_C_LABEL_NONE
    let often = PROTOBUF_C_LABEL_REPEATED
    let all: [Kind] = [
      ("int32_value", PROTOBUF_C_TYPE_INT32, once), ("sint32_value", PROTOBUF_C_TYPE_SINT32, once),
      ("sfixed32_value", PROTOBUF_C_TYPE_SFIXED32, once),
      ("int64_value", PROTOBUF_C_TYPE_INT64, once), ("sint64_value", PROTOBUF_C_TYPE_SINT64, once),
      ("sfixed64_value", PROTOBUF_C_TYPE_SFIXED64, once),
      ("uint32_value", PROTOBUF_C_TYPE_UINT32, once),
      ("fixed32_value", PROTOBUF_C_TYPE_FIXED32, once),
      ("uint64_value", PROTOBUF_C_TYPE_UINT64, once),
      ("fixed64_value", PROTOBUF_C_TYPE_FIXED64, once),
      ("float_value", PROTOBUF_C_TYPE_FLOAT, once), ("double_value", PROTOBUF_C_TYPE_DOUBLE, once),
      ("bool_value", PROTOBUF_C_TYPE_BOOL, once), ("colour", PROTOBUF_C_TYPE_ENUM, once),
      ("text_", PROTOBUF_C_TYPE_STRING, once), ("bytes__value", PROTOBUF_C_TYPE_BYTES, once),
      ("inner", PROTOBUF_C_TYPE_MESSAGE, once), ("int32_values", PROTOBUF_C_TYPE_INT32, often),
      ("sint64_values", PROTOBUF_C_TYPE_SINT64, often),
      ("fixed32_values", PROTOBUF_C_TYPE_FIXED32, often),
      ("double_values", PROTOBUF_C_TYPE_DOUBLE, often),
      ("float_values", PROTOBUF_C_TYPE_FLOAT, often), ("bool_values", PROTOBUF_C_TYPE_BOOL, often),
      ("colours", PROTOBUF_C_TYPE_ENUM, often), ("texts", PROTOBUF_C_TYPE_STRING, often),
      ("byte_strings", PROTOBUF_C_TYPE_BYTES, often), ("inners", PROTOBUF_C_TYPE_MESSAGE, often),
      ("number_choice", PROTOBUF_C_TYPE_INT64, once), ("text_choice", PROTOBUF_C_TYPE_STRING, once),
      ("kinds_choice", PROTOBUF_C_TYPE_MESSAGE, once),
      ("optional_2_number", PROTOBUF_C_TYPE_UINT32, once),
      ("unpacked_values", PROTOBUF_C_TYPE_INT32, often),
    ]
    let fields = UnsafeMutablePointer<ProtobufCFieldDescriptor>.allocate(capacity: all.count)
    for (index, (name, type, label)) in all.enumerated() {
      var field = ProtobufCFieldDescriptor()
      field.name = UnsafePointer(name.withCString { strdup($0) })
      field.id = UInt32(index + 1)
      field.label = label
      field.type = type
      if type == PROTOBUF_C_TYPE_MESSAGE { field.descriptor = UnsafeRawPointer(message) }
      if type == PROTOBUF_C_TYPE_ENUM { field.descriptor = UnsafeRawPointer(colour) }
      if (28...31).contains(field.id) {
        field.flags = PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue
        field.quantifier_offset = field.id == 31 ? 8 : 4
      }
      if label == often, field.wireType != .length, name != "unpacked_values" {
        field.flags = PROTOBUF_C_FIELD_FLAG_PACKED.rawValue
      }
      (fields + index).initialize(to: field)
    }
    message.pointee.magic = UInt32(PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC)
    message.pointee.name = UnsafePointer(strdup("entitle.test.Kinds"))
    message.pointee.n_fields = UInt32(all.count)
    message.pointee.fields = UnsafePointer(fields)
    message.pointee.n_field_ranges = 1
    message.pointee.field_ranges = ranges([(1, 0), (0, all.count)])
    return MessageType(descriptor: UnsafePointer(message))
  }()

  private static var colour: UnsafePointer<ProtobufCEnumDescriptor> {
    let named: [(String, Int32)] = [
      ("COLOUR_BLACK", -2), ("COLOUR_UNSPECIFIED", 0), ("COLOUR_RED", 1),
    ]
    let values = UnsafeMutablePointer<ProtobufCEnumValue>.allocate(capacity: named.count)
    for (index, (name, value)) in named.enumerated() {
      (values + index).initialize(
        to: ProtobufCEnumValue(name: strdup(name), c_name: nil, value: value))
    }
    // Sorted by name, as the lookup requires.
    let names = UnsafeMutablePointer<ProtobufCEnumValueIndex>.allocate(capacity: named.count)
    for (place, index) in [0, 2, 1].enumerated() {
      (names + place).initialize(
        to: ProtobufCEnumValueIndex(name: strdup(named[index].0), index: UInt32(index)))
    }
    let colour = UnsafeMutablePointer<ProtobufCEnumDescriptor>.allocate(capacity: 1)
    colour.initialize(to: ProtobufCEnumDescriptor())
    colour.pointee.magic = UInt32(PROTOBUF_C__ENUM_DESCRIPTOR_MAGIC)
    colour.pointee.name = UnsafePointer(strdup("entitle.test.Colour"))
    colour.pointee.n_values = UInt32(named.count)
    colour.pointee.values = UnsafePointer(values)
    colour.pointee.n_value_names = UInt32(named.count)
    colour.pointee.values_by_name = UnsafePointer(names)
    colour.pointee.n_value_ranges = 2
    colour.pointee.value_ranges = ranges([(-2, 0), (0, 1), (0, named.count)])
    return UnsafePointer(colour)
  }

  private static func ranges(_ ranges: [(Int32, Int)]) -> UnsafePointer<ProtobufCIntRange> {
    let pointer = UnsafeMutablePointer<ProtobufCIntRange>.allocate(capacity: ranges.count)
    for (index, range) in ranges.enumerated() {
      (pointer + index).initialize(
        to: ProtobufCIntRange(start_value: range.0, orig_index: UInt32(range.1)))
    }
    return UnsafePointer(pointer)
  }
}
