/// Every limit on messages, with its unit and its reason.
public enum MessageLimits {
  /// Bytes of an identifier in a request. Apple's are under 64; a caller's own account ids are kept
  /// as keys in memory and in indexes.
  public static let identifierLength = 256
  /// Bytes of the name of who acted: a person's or a tool's, as long as an identifier.
  public static let authorLength = 256
  /// Bytes of the reason for an act of an operator: a few sentences, and kept for ever.
  public static let reasonLength = 1_024
  /// Bytes of a catalog that comes with a request: thousands of products, and room for the rest of
  /// the message in the largest frame.
  public static let catalogLength = 1 << 20
  /// Bytes of a page token: an account id and room for more.
  public static let pageTokenLength = 1_024
  /// Selectors in one batch: one round trip to the store, and an answer that stays well under the
  /// largest frame.
  public static let batchSize = 256
  /// Signed payloads in one submission: a few kilobytes each, so that they fit the largest frame,
  /// and some 20 ms of signature checks on one core.
  public static let submissionSize = 500
  /// Bytes of a receipt in a request: 1 MiB of DER, or the base64 of as much, which takes a third
  /// more, and a line break after every few dozen characters. Receipts grow by some 200 bytes with
  /// each purchase, and keep every purchase but consumable ones for ever.
  public static let receiptLength = 3 << 19
  /// Bytes of a device's identifier: 16 for `identifierForVendor`, 6 for a Mac's network address,
  /// and room for what comes next.
  public static let deviceIdentifierLength = 64
  /// Bytes of an archived response of `verifyReceipt`: about a thousand purchases, which it lists
  /// twice.
  public static let archivedResponseLength = 1 << 20
  /// Customers on a page when the request does not say.
  public static let defaultPageSize = 50
  /// Customers on a page at most.
  public static let largestPageSize = 200
  /// Entries of the change feed on a page when the request does not say.
  public static let defaultChangePageSize = 100
  /// Entries of the change feed on a page at most: a few hundred bytes each, and up to a kilobyte
  /// with events, so that they stay well under the largest frame.
  public static let largestChangePageSize = 1_000
  /// Unlinked chains on a page when the request does not say.
  public static let defaultChainPageSize = 100
  /// Unlinked chains on a page at most: under a hundred bytes each.
  public static let largestChainPageSize = 1_000
  /// Steps in the history of a link or an account at most: a few hundred bytes each, so that as many
  /// as anybody reads fit the largest frame. A server leaves out the oldest of what does not fit.
  public static let historyLength = 10_000
  /// Bytes of a piece of an exported document: a quarter of the largest frame, so that others get
  /// their turn on the connection.
  public static let exportedPieceLength = 1 << 20
  /// Bytes of a watch's cursor: a number of 64 bits today, and room for what comes next.
  public static let cursorLength = 256
  /// Accounts that one watch is told of: every change is looked up among them. Who watches more
  /// takes all, and chooses.
  public static let watchedAccounts = 1_000

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
