package import NIOCore

/// A message of a stream, encoded.
package struct StreamMessage: Sendable {
  package let payload: ByteBuffer
  /// Where a reader that has this message can resume; told to the client if the stream is ended for
  /// being read too slowly.
  package let cursor: String?

  package init(_ payload: ByteBuffer, cursor: String? = nil) {
    self.payload = payload
    self.cursor = cursor
  }
}
