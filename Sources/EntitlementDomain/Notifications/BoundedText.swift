extension String {
  /// As much of the text as fits so many bytes of UTF-8, without half a character.
  func bounded(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var length = 0
    var kept = ""
    for scalar in unicodeScalars {
      length += UTF8.width(scalar)
      if length > limit { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept
  }
}
