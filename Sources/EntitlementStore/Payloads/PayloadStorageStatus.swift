package import EntitlementDomain

/// The dictionaries of a database, and how far the conversion of its payloads is.
package struct PayloadStorageStatus: Hashable, Sendable {
  /// A dictionary that was trained on payloads of the database.
  package struct Dictionary: Hashable, Sendable {
    package var number: UInt32
    package var byteCount: Int
    package var createdAt: Milliseconds
    /// The payloads that it was trained on.
    package var samples: Int

    package init(number: UInt32, byteCount: Int, createdAt: Milliseconds, samples: Int) {
      self.number = number
      self.byteCount = byteCount
      self.createdAt = createdAt
      self.samples = samples
    }
  }

  /// The conversion of one table.
  package struct Conversion: Hashable, Sendable {
    package var table: PayloadTable
    /// The dictionary that payloads are converted to.
    package var dictionary: UInt32
    /// The rows that were looked at.
    package var rows: Int64
    /// An estimate of all rows of the table; nil when the database has none.
    package var estimatedRows: Int64?
    /// The bytes that these rows had before.
    package var bytesBefore: Int64
    package var bytesAfter: Int64
    /// Rows that could not be read, and were left as they are.
    package var damagedRows: Int64
    /// When the last row had been looked at; nil before.
    package var endedAt: Milliseconds?

    package init(
      table: PayloadTable, dictionary: UInt32, rows: Int64, estimatedRows: Int64?,
      bytesBefore: Int64, bytesAfter: Int64, damagedRows: Int64, endedAt: Milliseconds?
    ) {
      self.table = table
      self.dictionary = dictionary
      self.rows = rows
      self.estimatedRows = estimatedRows
      self.bytesBefore = bytesBefore
      self.bytesAfter = bytesAfter
      self.damagedRows = damagedRows
      self.endedAt = endedAt
    }
  }

  /// In the order of their numbers. The shipped one, number 1, is not among them.
  package var dictionaries: [Dictionary]
  /// In the order of ``PayloadTable``.
  package var conversions: [Conversion]

  package init(dictionaries: [Dictionary], conversions: [Conversion]) {
    self.dictionaries = dictionaries
    self.conversions = conversions
  }
}

/// The tables that hold payloads, in the order of their conversion. The name is that of the table in
/// both kinds of database.
package enum PayloadTable: String, CaseIterable, Hashable, Sendable {
  case facts
  case versions
  case notifications
  case documents
}

/// What training a dictionary showed.
package struct DictionaryTrainingReport: Hashable, Sendable {
  /// The number of the new dictionary; nil after a dry run.
  package var number: UInt32?
  /// The payloads that it was trained on.
  package var samples: Int
  /// The payloads that were left out of the training, and compressed to compare.
  package var comparedSamples: Int
  /// The mean bytes of these payloads as they are.
  package var meanBytes: Double
  /// Their mean bytes in the form of the present dictionary.
  package var meanBytesWithPresent: Double
  /// Their mean bytes in the form of the new dictionary.
  package var meanBytesWithNew: Double
  /// Whether stored payloads are converted to the new dictionary.
  package var converts: Bool

  package init(
    number: UInt32?, samples: Int, comparedSamples: Int, meanBytes: Double,
    meanBytesWithPresent: Double, meanBytesWithNew: Double, converts: Bool
  ) {
    self.number = number
    self.samples = samples
    self.comparedSamples = comparedSamples
    self.meanBytes = meanBytes
    self.meanBytesWithPresent = meanBytesWithPresent
    self.meanBytesWithNew = meanBytesWithNew
    self.converts = converts
  }
}
