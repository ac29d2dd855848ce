import NIOCore

/// A call whose moment has come.
struct PlannedCall {
  let call: LoadCall
  /// When it was meant to be made: from there on somebody waits.
  let intended: NIODeadline
  /// A call of the warm-up is checked, and not counted.
  let isMeasured: Bool
}
