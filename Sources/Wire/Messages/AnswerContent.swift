import Framing
package import NIOCore

/// Compares encoded ``GetCustomerStateResponse`` messages without decoding them, for programs that
/// compare very many. Two answers with the same digest differ at most in their revision and in the
/// moment that they were computed for.
package enum AnswerContent {
  /// Field numbers as in `Protos/`; a test compares them.
  private static let state: UInt32 = 1
  private static let responseRevision: UInt32 = 3
  private static let revision: UInt32 = 4
  private static let evaluatedAt: UInt32 = 5
  /// Field number in ``BatchGetCustomerStateResponse``.
  private static let results: UInt32 = 1

  /// - Returns: a digest that is valid within this process; nil when `answer` is not such a
  ///   message.
  package static func digest(of answer: ByteBuffer) -> Int? {
    answer.withUnsafeReadableBytes { bytes in try? digest(of: bytes) }
  }

  /// The encoded answers in a ``BatchGetCustomerStateResponse``, in order.
  ///
  /// - Returns: nil when `batch` is not such a message.
  package static func results(of batch: ByteBuffer) -> [ByteBuffer]? {
    let start = batch.readerIndex
    let ranges = batch.withUnsafeReadableBytes { bytes -> [Range<Int>]? in
      var reader = EnvelopeCursor(bytes, of: "BatchGetCustomerStateResponse")
      var ranges: [Range<Int>] = []
      do throws(WireError) {
        while let tag = try reader.readTag() {
          if tag.field == results {
            ranges.append(try reader.readRange(tag))
          } else {
            try reader.skip(tag)
          }
        }
      } catch {
        return nil
      }
      return ranges
    }
    return ranges?.compactMap { batch.getSlice(at: start + $0.lowerBound, length: $0.count) }
  }

  private static func digest(of bytes: UnsafeRawBufferPointer) throws(WireError) -> Int {
    var hasher = Hasher()
    var reader = EnvelopeCursor(bytes, of: "GetCustomerStateResponse")
    while let tag = try reader.readTag() {
      if tag.field == state {
        try combine(try reader.readBytes(tag), without: [revision, evaluatedAt], into: &hasher)
      } else if tag.field == responseRevision {
        try reader.skip(tag)
      } else {
        hasher.combine(tag.field)
        hasher.combine(try reader.readNumber(tag))
      }
    }
    return hasher.finalize()
  }

  private static func combine(
    _ bytes: UnsafeRawBufferPointer, without skipped: [UInt32], into hasher: inout Hasher
  ) throws(WireError) {
    var reader = EnvelopeCursor(bytes, of: "CustomerState")
    while let tag = try reader.readTag() {
      if tag.wireType == .length {
        let content = try reader.readBytes(tag)
        hasher.combine(tag.field)
        hasher.combine(content.count)
        hasher.combine(bytes: content)
      } else {
        let value = try reader.readNumber(tag)
        if skipped.contains(tag.field) { continue }
        hasher.combine(tag.field)
        hasher.combine(value)
      }
    }
  }
}
