import NIOCore
import Wire

/// Lists that may outgrow a message.
enum FittingMessage {
  /// Which elements are told where not all of them fit.
  enum Kept {
    case first, last
  }

  /// The message with as many of the elements as fit a frame.
  static func encoded<Element>(
    _ elements: [Element], keeping kept: Kept, in message: ([Element]) -> some WireMessage
  ) throws -> ByteBuffer {
    var elements = elements[...]
    while true {
      let encoded = try message(Array(elements)).encoded()
      let length = encoded.readableBytes
      if length <= largestLength || elements.isEmpty { return encoded }
      // Somewhat fewer than would fit if all were of one size.
      let count = min(elements.count - 1, elements.count * largestLength / length)
      elements = kept == .first ? elements.prefix(count) : elements.suffix(count)
    }
  }

  /// A frame's data, and room for the answer around the message.
  private static let largestLength = RPCLimits.maximumFrameData - 1_024
}
