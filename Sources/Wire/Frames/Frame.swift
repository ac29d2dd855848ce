package import NIOCore

/// One complete frame. `data` is a slice of what was received, not a copy.
package struct Frame: Hashable, Sendable {
  package var header: FrameHeader
  package var data: ByteBuffer

  package init(header: FrameHeader, data: ByteBuffer) {
    self.header = header
    self.data = data
  }
}
