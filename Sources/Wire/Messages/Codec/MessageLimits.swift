/// Limits on all messages. Those of single fields are said in `Protos/`, and generated.
public enum MessageLimits {
  /// Bytes of an identifier in a request. Apple's are under 64; a caller's own account ids are kept
  /// as keys in memory and in indexes.
  public static let identifierLength = 256

  /// Levels of messages inside messages, the outer one included. `Protos/` has no recursive
  /// messages and six levels at most; a test compares.
  static let nestingDepth = 8

  /// Bytes of memory that each thread keeps for messages: enough for all requests but large
  /// submissions.
  static let keptArenaSize = 16 * 1_024
  /// Bytes of memory that decoding takes at most: far above what honest messages need, which is
  /// two to three times their size. Without it, 4 MiB of empty messages would take 277 MiB.
  static func decodingArenaSize(messageSize: Int) -> Int {
    min(16 * min(messageSize, largestDecodingArenaSize) + 64 * 1_024, largestDecodingArenaSize)
  }
  static let largestDecodingArenaSize = 8 * 1_024 * 1_024
  /// Bytes of memory that encoding takes at most. What needs more would not fit a frame.
  static let encodingArenaSize = 64 * 1_024 * 1_024
}
