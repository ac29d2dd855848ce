package import PayloadCompression

/// Trains a dictionary on payloads of a database, and compares it with the present one.
package struct DictionaryTrainer: Sendable {
  /// A payload to train with.
  package struct Sample: Sendable {
    package var payload: [UInt8]
    /// For a notification, the header segment of its JWS.
    package var header: [UInt8]?
    /// For a fact, those of its row.
    package var texts: RowTexts

    package init(payload: [UInt8], header: [UInt8]?, texts: RowTexts = .none) {
      self.payload = payload
      self.header = header
      self.texts = texts
    }
  }

  /// The samples that a command takes unless told otherwise.
  package static let defaultSamples = 20_000
  /// The most samples. More make no better dictionary.
  package static let maximumSamples = 100_000
  /// The new dictionary.
  package let dictionary: PayloadDictionary
  /// ``DictionaryTrainingReport/number`` is nil: nothing is stored yet.
  package let report: DictionaryTrainingReport

  /// - Parameters:
  ///   - samples: from all parts of the database.
  ///   - number: of the new dictionary.
  ///   - present: the dictionary that payloads are written with at present.
  ///   - converts: passed on to the report.
  /// - Throws: ``StoreError/Code/missing`` when there are too few samples;
  ///   ``StoreError/Code/internalFault`` when zstd fails.
  package init(
    _ samples: [Sample], number: UInt32, present: PayloadDictionary, converts: Bool
  ) throws(StoreError) {
    var collected = DictionarySamples()
    for sample in samples where !collected.isFull { collected.add(sample) }
    try self.init(collected, number: number, present: present, converts: converts)
  }

  /// - Parameters: as above.
  /// - Throws: as above.
  package init(
    _ samples: DictionarySamples, number: UInt32, present: PayloadDictionary, converts: Bool
  ) throws(StoreError) {
    let trained = samples.trained
    let compared = samples.compared
    do throws(PayloadCompressionError) {
      dictionary = try PayloadDictionary(
        number: number, bytes: try DictionaryTraining.dictionary(from: trained))
    } catch {
      guard error == .tooFewSamples else {
        throw StoreError(.internalFault, "a dictionary could not be made")
      }
      throw StoreError(
        .missing,
        "\(trained.count) payloads are too few for a dictionary, or too much alike: it takes at "
          + "least \(DictionaryTraining.minimumSamples)")
    }
    func mean(_ byteCount: (Sample) -> Int) -> Double {
      Double(compared.reduce(0) { $0 + byteCount($1) }) / Double(max(1, compared.count))
    }
    let compressor = PayloadCompressor()
    report = DictionaryTrainingReport(
      number: nil, samples: trained.count, comparedSamples: compared.count,
      meanBytes: mean { $0.payload.count },
      meanBytesWithPresent: mean {
        compressor.stored($0.payload, header: $0.header, texts: $0.texts, with: present).count
      },
      meanBytesWithNew: mean { [dictionary] in
        compressor.stored($0.payload, header: $0.header, texts: $0.texts, with: dictionary).count
      }, converts: converts)
  }
}
