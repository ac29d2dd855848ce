extension Duration {
  /// Rounded up, and bounded: what `poll` and the server's settings take.
  var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    guard self > .zero else { return 0 }
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
