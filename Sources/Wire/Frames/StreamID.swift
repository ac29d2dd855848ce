/// The number that ties the frames of one call together. The client chooses it; it is odd and
/// not zero in a correct client.
package struct StreamID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Whether a client may open a stream with this id.
  package var isClientInitiated: Bool {
    rawValue % 2 == 1
  }
}

extension StreamID: CustomStringConvertible {
  package var description: String {
    String(rawValue)
  }
}
