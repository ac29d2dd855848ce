/// Limits of all messages. The limits of single fields are in `Protos/`, and generated from there.
public enum MessageLimits {
  /// Maximum length of an identifier in a request, in bytes. Apple's are shorter than 64; account
  /// ids of the caller are keys in memory and in indexes.
  public static let identifierLength = 256

  /// Maximum nesting of messages, the outermost included. `Protos/` has no recursive messages and
  /// at most six levels; a test checks that.
  static let nestingDepth = 8

  /// Memory that each thread retains for messages, in bytes. It suffices for all requests except
  /// large submissions.
  static let retainedArenaSize = 16 * 1_024
  /// Maximum memory for decoding a message, in bytes. Honest messages need two to three times their
  /// size. Without the limit, 4 MiB of empty messages would take 277 MiB.
  static func decodingArenaSize(messageSize: Int) -> Int {
    min(16 * min(messageSize, largestDecodingArenaSize) + 64 * 1_024, largestDecodingArenaSize)
  }
  static let largestDecodingArenaSize = 8 * 1_024 * 1_024
  /// Maximum size, in bytes, of a message in which a message field occurs twice. At each level, the
  /// merge takes memory for the contents and for the result.
  static let largestMergedMessage = largestDecodingArenaSize / (2 * nestingDepth)
  /// Maximum memory for encoding a message, in bytes. A message that needs more would not fit a
  /// frame.
  static let encodingArenaSize = 64 * 1_024 * 1_024
}
