import EntitlementDomain
import TestSupport
import Testing

@testable import Verification

@Suite("Reading DER")
struct DERReaderTests {
  private static func length(_ bytes: [UInt8]) -> Refusal? {
    do {
      var reader = DERReader(bytes)
      _ = try reader.next()
      return nil
    } catch {
      return error
    }
  }

  @Test(
    arguments: [
      ([0x04, 0x00], 0), ([0x04, 0x01, 0xAA], 1),
      ([0x04, 0x7F] + Array(repeating: 7, count: 127), 127),
      ([0x04, 0x81, 0x80] + Array(repeating: 7, count: 128), 128),
      ([0x04, 0x82, 0x01, 0x00] + Array(repeating: 7, count: 256), 256),
      ([0x04, 0x83, 0x01, 0x00, 0x00] + Array(repeating: 7, count: 65_536), 65_536),
    ] as [([UInt8], Int)])
  func `lengths in their shortest form are read`(bytes: [UInt8], length: Int) throws {
    var reader = DERReader(bytes)
    #expect(reader.nextTag == 0x04)
    let element = try reader.next()
    #expect(element.contents.count == length)
    #expect(element.range == 0..<bytes.count)
    #expect(reader.isAtEnd)
    #expect(reader.nextTag == nil)
  }

  @Test(
    arguments: [
      ("nothing", [], "unexpected end"),
      ("a tag alone", [0x04], "unexpected end"),
      ("a length without its octets", [0x04, 0x82, 0x01], "unexpected end"),
      ("one byte too few", [0x04, 0x02, 0xAA], "longer than its container"),
      ("a long length that lies", [0x04, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], "longer than"),
      ("the longest length", [0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], "longer than"),
      ("a length of five octets", [0x04, 0x85, 0, 0, 0, 0, 1, 0xAA], "more than four octets"),
      ("a length of 126 octets", [0x04, 0xFE] + Array(repeating: 0xFF, count: 126), "four octets"),
      ("the reserved length", [0x04, 0xFF], "more than four octets"),
      ("an indefinite length", [0x30, 0x80, 0x00, 0x00], "a length is indefinite"),
      ("a padded length", [0x04, 0x82, 0x00, 0x80] + Array(repeating: 7, count: 128), "shortest"),
      (
        "a long form of a short length", [0x04, 0x81, 0x7F] + Array(repeating: 7, count: 127),
        "shortest"
      ),
      ("a long form of zero", [0x04, 0x81, 0x00], "shortest"),
      ("a long identifier", [0x1F, 0x81, 0x00, 0x00], "several octets"),
      ("a long constructed identifier", [0xBF, 0x20, 0x00], "several octets"),
    ] as [(String, [UInt8], String)])
  func `lengths and identifiers that are none are refused`(
    name: String, bytes: [UInt8], reason: String
  ) {
    let refusal = Self.length(bytes)
    #expect(refusal?.verdict == .malformed, "\(name)")
    #expect(refusal?.detail.contains(reason) == true, "\(name): \(refusal?.detail ?? "")")
  }

  @Test(
    arguments: [
      ([0x00], 0), ([0x7F], 127), ([0x00, 0x80], 128), ([0x80], -128), ([0xFF], -1),
      ([0xFF, 0x7F], -129), ([0x06, 0xA8], 1_704),
      ([0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Int64.max),
      ([0x80, 0, 0, 0, 0, 0, 0, 0], Int64.min),
    ] as [([UInt8], Int64)])
  func `integers of up to 64 bits are read`(octets: [UInt8], value: Int64) throws {
    var reader = DERReader(DERNode(0x02, octets).encoded)
    #expect(try reader.integer("number") == value)
  }

  @Test(
    arguments: [
      ("without octets", []), ("padded with zeros", [0x00, 0x7F]),
      ("padded with ones", [0xFF, 0x80]), ("of nine octets", [0x00, 0x80, 0, 0, 0, 0, 0, 0, 0]),
      ("below 64 bits", [0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
      // 10^1000 has 3,322 bits.
      ("of a thousand digits", [0x03] + Array(repeating: 0x5C, count: 415)),
      ("of a thousand digits below zero", [0x83] + Array(repeating: 0x5C, count: 415)),
    ] as [(String, [UInt8])])
  func `other integers are refused`(name: String, octets: [UInt8]) {
    #expect(throws: Refusal.self, "\(name)") {
      var reader = DERReader(DERNode(0x02, octets).encoded)
      _ = try reader.integer("number")
    }
  }

  @Test func `text is read in its encoding`() throws {
    for (node, text) in [
      (DERNode.utf8("Grüße 👋"), "Grüße 👋"), (.ia5("plain"), "plain"), (.utf8(""), ""),
    ] {
      var reader = DERReader(node.encoded)
      let octets = try reader.text("greeting")
      #expect(String(decoding: node.encoded[octets], as: UTF8.self) == text)
    }
  }

  @Test func `a byte that is none of text is found at any place`() throws {
    for length in 1...40 {
      let text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
      for place in 0..<length {
        for (byte, tag, isValid) in [
          (0x00, 0x0C, false), (0x00, 0x16, false), (0xFF, 0x0C, false), (0x80, 0x0C, false),
          (0xE9, 0x16, false), (0x01, 0x0C, true), (0x7F, 0x16, true),
        ] as [(UInt8, UInt8, Bool)] {
          var bytes = text
          bytes[place] = byte
          var reader = DERReader(DERNode(tag, bytes).encoded + [0x00])
          do throws(Refusal) {
            let octets = try reader.text("name")
            #expect(isValid && octets.count == length, "\(byte) at \(place) of \(length)")
          } catch {
            #expect(!isValid, "\(byte) at \(place) of \(length)")
          }
        }
      }
    }
  }

  @Test(
    arguments: [
      ("a byte that begins nothing", [0x0C, 0x01, 0xFF]), ("half a character", [0x0C, 0x01, 0xC3]),
      ("an overlong form", [0x0C, 0x02, 0xC0, 0x80]),
      ("half of a surrogate pair", [0x0C, 0x03, 0xED, 0xA0, 0x80]),
      ("beyond the last character", [0x0C, 0x04, 0xF4, 0x90, 0x80, 0x80]),
      ("ASCII of eight bits", [0x16, 0x02, 0x61, 0xE9]), ("a NUL", [0x0C, 0x03, 0x61, 0x00, 0x62]),
      ("a NUL in ASCII", [0x16, 0x01, 0x00]), ("another kind of text", [0x13, 0x01, 0x61]),
      ("a number", [0x02, 0x01, 0x61]), ("nothing", []),
    ] as [(String, [UInt8])])
  func `invalid text is refused`(name: String, bytes: [UInt8]) {
    #expect(throws: Refusal.self, "\(name)") {
      var reader = DERReader(bytes)
      _ = try reader.text("name")
    }
  }

  @Test func `an element of another kind is named`() {
    #expect(throws: Refusal(.malformed, "expected serial number")) {
      var reader = DERReader([0x04, 0x00])
      _ = try reader.next(DERTag.integer, "serial number")
    }
  }

  @Test func `an attribute of the usual form is read as element by element`() throws {
    let attribute: [UInt8] = [
      0x30, 0x0C, 0x02, 0x02, 0x06, 0xA5, 0x02, 0x01, 0x01, 0x04, 0x03, 0x02, 0x01, 0x05,
    ]
    var found = 0
    for position in attribute.indices {
      for octet in UInt8.min ... .max {
        var bytes = attribute + [0x05, 0x00]
        bytes[position] = octet
        var reader = DERReader(bytes)
        guard let usual = reader.usualAttribute() else {
          // Nothing was read.
          #expect(reader.nextTag == bytes[0])
          continue
        }
        found += 1
        var whole = DERReader(bytes)
        var inside = DERReader(bytes, inside: try whole.next(DERTag.sequence, "attribute"))
        let type = try inside.integer("type")
        let version = try inside.integer("version")
        let value = try inside.next(DERTag.octetString, "value")
        #expect(usual.type == type)
        #expect(usual.version == version)
        #expect(usual.value == value.contents)
        #expect(inside.isAtEnd)
        let (next, expected) = (try reader.next(), try whole.next())
        #expect(next == expected)
      }
    }
    // Eight octets are fixed. With 0xFF as its first octet, the type would fit one. The rest of the type,
    // the version and the value are free.
    #expect(found == 8 + 255 + 5 * 256)
    for length in attribute.indices {
      var reader = DERReader(Array(attribute.prefix(length)))
      #expect(reader.usualAttribute() == nil)
    }
  }

  @Test func `the type of an attribute has its shortest form, and all of it is inside`() throws {
    var different: [UInt16] = []
    for type in UInt16.min ... .max {
      let attribute: [UInt8] = [
        0x30, 0x09, 0x02, 0x02, UInt8(type >> 8), UInt8(type & 0xFF), 0x02, 0x01, 0x01, 0x04, 0x00,
      ]
      var (reader, whole) = (DERReader(attribute), DERReader(attribute))
      var inside = DERReader(attribute, inside: try whole.next(DERTag.sequence, "attribute"))
      if reader.usualAttribute()?.type != (try? inside.integer("type")) { different.append(type) }
    }
    #expect(different.isEmpty)
    // There are more bytes, but not for this reader.
    for length in UInt8(0)..<16 {
      let bytes: [UInt8] =
        [
          0x30, length, 0x30, 0x0C, 0x02, 0x02, 0x06, 0xA5, 0x02, 0x01, 0x01, 0x04, 0x03, 0x02,
          0x01, 0x05,
        ]
        + [0x05, 0x00]
      var whole = DERReader(bytes)
      var inside = DERReader(bytes, inside: try whole.next(DERTag.sequence, "attributes"))
      #expect((inside.usualAttribute() != nil) == (length >= 14), "\(length)")
    }
  }
}
