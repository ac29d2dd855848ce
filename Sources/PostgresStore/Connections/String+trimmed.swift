extension String {
  /// Without the white space at its end, and in one line: libpq's texts end with a line feed.
  var trimmed: String {
    var lines = split(whereSeparator: \.isNewline).map { line in
      var line = line
      while line.last?.isWhitespace == true { line.removeLast() }
      while line.first?.isWhitespace == true { line.removeFirst() }
      return line
    }
    lines.removeAll(where: \.isEmpty)
    return lines.joined(separator: " ")
  }
}
