/// A place in a text. Both count from 1; a column is a Unicode scalar.
package struct YAMLPosition: Hashable, Sendable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  static let start = YAMLPosition(line: 1, column: 1)

  /// - Parameter offset: from 0.
  init(ofByte offset: Int, in bytes: some Collection<UInt8>) {
    var line = 1
    var column = 1
    for byte in bytes.prefix(max(offset, 0)) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xc0 != 0x80 {
        // Not a later byte of a scalar.
        column += 1
      }
    }
    self.init(line: line, column: column)
  }
}
