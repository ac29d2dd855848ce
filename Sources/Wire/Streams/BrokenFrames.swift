import NIOCore

/// Frames of one connection that broke the protocol within a short time: a few are a mistake, many keep
/// the server from its work.
struct BrokenFrames {
  private let limit: Int
  private var count = 0
  private var bytes = 0
  private var end = NIODeadline.uptimeNanoseconds(0)

  /// - Parameter limit: how many are still a mistake.
  init(limit: Int) {
    self.limit = limit
  }

  /// - Parameter length: of its data.
  /// - Returns: whether they are too many by now.
  mutating func received(length: UInt32, now: NIODeadline) -> Bool {
    if end <= now {
      end = now + TimeAmount(RPCLimits.brokenFrameTime)
      count = 0
      bytes = 0
    }
    count += 1
    bytes += Int(length)
    // The longest data times the limit is far from the end of the numbers.
    return count > limit || (count > 1 && bytes > RPCLimits.brokenFrameData)
  }
}
