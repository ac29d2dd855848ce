import NIOCore

/// Frames of one connection that came to nothing within a short time: a few are a mistake, many keep the
/// server from its work.
struct BrokenFrames {
  private let limit: Int
  private var broken = 0
  private var bytes = 0
  private var longest = 0
  private var end = NIODeadline.uptimeNanoseconds(0)

  /// - Parameter limit: how many may break the protocol.
  init(limit: Int) {
    self.limit = limit
  }

  /// - Parameters:
  ///   - length: of its data.
  ///   - isIgnored: whether it broke nothing, and was of no use either.
  /// - Returns: whether they are too many by now.
  mutating func received(length: UInt32, isIgnored: Bool, now: NIODeadline) -> Bool {
    if end <= now {
      self = BrokenFrames(limit: limit)
      end = now + TimeAmount(RPCLimits.brokenFrameTime)
    }
    broken += isIgnored ? 0 : 1
    // Ends long before the end of the numbers.
    bytes += Int(length)
    longest = max(longest, Int(length))
    return broken > limit || bytes - longest > RPCLimits.brokenFrameData
  }
}
