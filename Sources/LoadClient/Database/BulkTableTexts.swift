/// The rows of each table that customers in bulk have, as COPY takes them.
struct BulkTableTexts {
  /// The number of the app and environment, which all rows share.
  private let scope: Int64
  /// One for each table, by its raw value.
  private var texts = BulkTable.allCases.map { _ in CopyText() }

  init(scope: Int64) {
    self.scope = scope
  }

  /// The commands of `psql` that load the rows, in one transaction.
  var script: [UInt8] {
    var script = Array("BEGIN;\n".utf8)
    for table in BulkTable.allCases {
      let text = texts[table.rawValue].bytes
      if text.isEmpty { continue }
      script += table.copyCommand.utf8
      script += text
      script += CopyText.endOfData
    }
    script += "COMMIT;\n".utf8
    return script
  }

  /// Keeps the memory for the next rows.
  mutating func removeAll() {
    for index in texts.indices { texts[index].removeAll() }
  }

  /// Adds a row that begins with the scope.
  mutating func row(_ table: BulkTable, _ columns: (inout CopyText) -> Void) {
    write(table) { scope, text in
      text.add(scope)
      columns(&text)
    }
  }

  /// Adds a row that has the scope elsewhere.
  mutating func write(
    _ table: BulkTable, _ columns: (_ scope: Int64, inout CopyText) -> Void
  ) {
    columns(scope, &texts[table.rawValue])
    texts[table.rawValue].endRow()
  }
}
