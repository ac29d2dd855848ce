import NIOCore

/// The key and value pairs sent with a request, decoded when first asked for.
///
/// Keys are compared exactly; stock clients send them in lower case. A key may occur often.
package struct RPCMetadata: Sendable {
  /// The whole request envelope: its metadata fields need not be next to each other.
  private let envelope: ByteBuffer
  package let count: Int

  init(envelope: ByteBuffer, count: Int) {
    self.envelope = envelope
    self.count = count
  }

  package var isEmpty: Bool {
    count == 0
  }

  /// All pairs in the order sent.
  package var pairs: [(key: String, value: String)] {
    if isEmpty {
      return []
    }
    return envelope.withUnsafeReadableBytes { bytes in
      // The envelope was decoded once without error, so that it decodes again.
      (try? RequestEnvelope.metadataPairs(of: bytes)) ?? []
    }
  }

  /// The values of one key in the order sent.
  package subscript(key: String) -> [String] {
    pairs.filter { $0.key == key }.map(\.value)
  }
}
