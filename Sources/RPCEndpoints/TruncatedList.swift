import Framing
import NIOCore
import Wire

/// Encodes messages with a list that may be too long for a frame.
enum TruncatedList {
  /// Which elements are kept if not all elements fit.
  enum Kept {
    case first, last
  }

  /// Encodes the message with as many elements as fit a frame.
  static func encoded<Element>(
    _ elements: [Element], keeping kept: Kept, in message: ([Element]) -> some WireMessage
  ) throws -> ByteBuffer {
    var elements = elements[...]
    while true {
      let encoded = try message(Array(elements)).encoded()
      let length = encoded.readableBytes
      if length <= largestLength || elements.isEmpty { return encoded }
      // The number of elements that would fit if all had the average size, rounded down.
      let count = min(elements.count - 1, elements.count * largestLength / length)
      elements = kept == .first ? elements.prefix(count) : elements.suffix(count)
    }
  }

  /// The data of a frame, less room for the response envelope.
  static let largestLength = RPCLimits.maximumFrameData - 1_024
}
