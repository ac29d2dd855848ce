/// How much an explanation tells: it is read by people, and goes over the wire in one frame.
enum ExplanationBounds {
  /// Items considered for one entitlement or group: what a reader goes through.
  static let considered = 50
  /// Items considered in all, so that a catalog of many entitlements still fits a frame: an item
  /// takes some 300 bytes, and under a kilobyte with the longest identifiers.
  static let consideredInAll = 4_000
  /// Known moments of change for one entitlement or group.
  static let knownChanges = 5
  /// Later moments at which the state is computed to find those: each costs an evaluation. Asked
  /// about the distant past, every period since then has some.
  static let examinedMoments = 64
  /// The same, times entitlements and groups: what an evaluation costs grows with them.
  static let examinedInAll = 4_096
  /// What new facts may do, for one entitlement or group.
  static let newFacts = 3
  /// Products that a sentence names.
  static let namedProducts = 3
  /// Bytes of a sentence.
  static let sentence = 400
  /// Bytes of an identifier within a sentence: the longest sentence has four. The whole one is told
  /// beside it.
  static let identifier = 48
  /// Bytes kept of a longer identifier's end, where look-alikes differ.
  static let identifierEnd = 16

  /// Later moments to examine for so many entitlements and groups.
  static func examinedMoments(for count: Int) -> Int {
    max(knownChanges, min(examinedMoments, examinedInAll / max(1, count)))
  }

  /// Items to consider for each of so many entitlements and groups.
  static func considered(ofEach count: Int) -> Int {
    max(1, min(considered, consideredInAll / max(1, count)))
  }
}
