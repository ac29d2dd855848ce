extension Duration {
  /// Whole nanoseconds, limited to the range of `Int64`.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, hasOverflowed) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, hasOverflowedToo) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    if hasOverflowed || hasOverflowedToo {
      return seconds < 0 ? .min : .max
    }
    return sum
  }
}
