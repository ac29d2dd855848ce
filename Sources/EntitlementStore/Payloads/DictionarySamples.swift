import PayloadCompression

/// Samples of payloads of a database, in the form in which a dictionary is trained with them.
package struct DictionarySamples: Sendable {
  /// One in so many samples is left out of the training, to compare the dictionaries by.
  private static let comparedShare = 10
  /// The bytes from which on no more samples are taken. A dictionary does not get better by then.
  private static let maximumByteCount = 256 << 20

  /// What the dictionary is trained with.
  private(set) var trained: [[UInt8]] = []
  private(set) var compared: [DictionaryTrainer.Sample] = []
  private var byteCount = 0
  private var substitute = IdentifierSubstitute()
  /// Nearly all notifications have one of a few headers.
  private var headers: Set<[UInt8]> = []

  package init() {}

  /// Whether no more samples are needed.
  package var isFull: Bool { byteCount >= Self.maximumByteCount }

  package mutating func add(_ sample: DictionaryTrainer.Sample) {
    byteCount += sample.payload.count
    if (trained.count + compared.count) % Self.comparedShare == Self.comparedShare - 1 {
      var sample = sample
      if let header = sample.header { sample.header = headers.insert(header).memberAfterInsert }
      compared.append(sample)
    } else {
      var bytes = PayloadCompressor.sample(
        of: sample.payload, header: sample.header, texts: sample.texts)
      substitute.replaceIdentifiers(in: &bytes)
      trained.append(bytes)
    }
  }
}

/// Puts others in place of identifiers: a dictionary contains text of its samples, and is kept for
/// ever. The same samples get the same ones.
struct IdentifierSubstitute {
  /// The fewest digits of an identifier.
  static let digits = 9
  /// The lengths of the parts of a UUID.
  private static let parts = [8, 4, 4, 4, 12]

  private var state: UInt64 = 0x656E_7469_746C_6531

  /// Replaces UUIDs and long runs of digits, with random ones of the same length.
  mutating func replaceIdentifiers(in bytes: inout [UInt8]) {
    var index = 0
    while index < bytes.count {
      guard let value = Self.value(bytes[index]) else {
        index += 1
        continue
      }
      if let end = Self.uuidEnd(in: bytes, at: index) {
        for place in index..<end where bytes[place] != UInt8(ascii: "-") {
          bytes[place] = Self.lowercase[next(16)]
        }
        index = end
      } else if value < 10 {
        let end = bytes[index...].firstIndex { !(48...57).contains($0) } ?? bytes.count
        if end - index >= Self.digits {
          for place in index..<end { bytes[place] = Self.lowercase[next(10)] }
        }
        index = end
      } else {
        index += 1
      }
    }
  }

  private static let lowercase = Array("0123456789abcdef".utf8)

  private static func value(_ byte: UInt8) -> Int? {
    Character(UnicodeScalar(byte)).hexDigitValue
  }

  /// The index after the UUID that begins at an index, if there is one.
  private static func uuidEnd(in bytes: [UInt8], at start: Int) -> Int? {
    var index = start
    for (number, length) in parts.enumerated() {
      if number > 0 {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "-") else { return nil }
        index += 1
      }
      guard index + length <= bytes.count,
        bytes[index..<(index + length)].allSatisfy({ value($0) != nil })
      else { return nil }
      index += length
    }
    return index
  }

  /// A number below a limit (SplitMix64).
  private mutating func next(_ limit: UInt64) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % limit)
  }
}
