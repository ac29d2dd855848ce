import EntitlementDomain
import EntitlementStore
import Programs

/// Prints the dictionaries of a database, and how far the conversion of its payloads is.
enum PayloadStorageOutput {
  /// The JSON form, a documented contract.
  struct Document: Encodable {
    let dictionaries: [Dictionary]
    let conversions: [Conversion]

    struct Dictionary: Encodable {
      let number: UInt32
      let byteCount: Int
      let samples: Int
      let createdAtMs: String
    }

    struct Conversion: Encodable {
      let table: String
      let dictionary: UInt32
      let rows: String
      let estimatedRows: String?
      let bytesBefore: String
      let bytesAfter: String
      let damagedRows: String
      let endedAtMs: String?
    }

    init(_ status: PayloadStorageStatus) {
      dictionaries = status.dictionaries.map {
        Dictionary(
          number: $0.number, byteCount: $0.byteCount, samples: $0.samples,
          createdAtMs: "\($0.createdAt)")
      }
      conversions = status.conversions.map {
        Conversion(
          table: $0.table.rawValue, dictionary: $0.dictionary, rows: "\($0.rows)",
          estimatedRows: $0.estimatedRows.map { "\($0)" }, bytesBefore: "\($0.bytesBefore)",
          bytesAfter: "\($0.bytesAfter)", damagedRows: "\($0.damagedRows)",
          endedAtMs: $0.endedAt.map { "\($0)" })
      }
    }
  }

  /// A document that holds nothing else, as of an SQLite file.
  private struct FileDocument: Encodable {
    let payloads: Document
  }

  static func write(_ status: PayloadStorageStatus, to output: OutputOptions) throws {
    try output.write(document: FileDocument(payloads: Document(status))) { _ in table(status) }
  }

  static func table(_ status: PayloadStorageStatus) -> String {
    var text = ""
    if !status.dictionaries.isEmpty {
      var table = TextTable(header: ["DICTIONARY", "BYTES", "SAMPLES", "CREATED"])
      for dictionary in status.dictionaries {
        table.add([
          "\(dictionary.number)", "\(dictionary.byteCount)", "\(dictionary.samples)",
          dictionary.createdAt.display,
        ])
      }
      text = table.text + "\n"
    }
    var table = TextTable(
      header: [
        "CONVERSION", "DICTIONARY", "ROWS", "OF ABOUT", "BYTES BEFORE", "BYTES AFTER", "DAMAGED",
        "ENDED",
      ])
    for conversion in status.conversions {
      table.add([
        conversion.table.rawValue, "\(conversion.dictionary)", "\(conversion.rows)",
        conversion.estimatedRows.map { "\($0)" } ?? "-", "\(conversion.bytesBefore)",
        "\(conversion.bytesAfter)", "\(conversion.damagedRows)",
        conversion.endedAt?.display ?? "-",
      ])
    }
    return text + table.text
  }
}
