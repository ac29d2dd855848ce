import NIOCore
import Wire

/// Histories, which may outgrow a message.
enum FittingMessage {
  /// The message with as many of the elements as fit a frame, the last ones.
  static func encoded<Element>(
    _ elements: [Element], in message: ([Element]) -> some WireMessage
  ) throws -> ByteBuffer {
    var elements = elements[...]
    while true {
      let encoded = try message(Array(elements)).encoded()
      let length = encoded.readableBytes
      if length <= largestLength || elements.isEmpty { return encoded }
      // Somewhat fewer than would fit if all were of one size.
      elements = elements.suffix(min(elements.count - 1, elements.count * largestLength / length))
    }
  }

  /// A frame's data, and room for the answer around the message.
  private static let largestLength = RPCLimits.maximumFrameData - 1_024
}
