extension FuzzTarget {
  /// Valid inputs made by the simulator. They are equal in each run, except for keys and
  /// signatures.
  package var seeds: [FuzzSeed] {
    let customers = CorpusCustomer.all
    switch self {
    case .jws: return SignedPayloadCorpus.seeds(customers)
    case .json: return JSONCorpus.seeds(customers)
    case .der: return ReceiptCorpus.seeds(customers)
    case .frames: return FrameCorpus.seeds()
    case .messages: return MessageCorpus.seeds(customers)
    case .messageJSON: return MessageCorpus.jsonSeeds(customers)
    case .signature: return SignatureCorpus.seeds()
    case .payloadForm: return PayloadFormCorpus.seeds(customers)
    }
  }

  /// Words that a fuzzer needs long to find.
  package var dictionary: FuzzDictionary {
    switch self {
    case .jws: FuzzDictionary(texts: FuzzDictionary.json + FuzzDictionary.header)
    case .json: FuzzDictionary(texts: FuzzDictionary.json)
    case .der: FuzzDictionary(texts: FuzzDictionary.archive, bytes: FuzzDictionary.receipt)
    case .frames: FuzzDictionary(texts: FuzzDictionary.names, bytes: FuzzDictionary.frames)
    case .messages: FuzzDictionary(texts: FuzzDictionary.values, bytes: FuzzDictionary.fields)
    case .messageJSON: FuzzDictionary(texts: FuzzDictionary.values + FuzzDictionary.messageJSON)
    case .signature: FuzzDictionary(texts: [])
    case .payloadForm: FuzzDictionary(texts: FuzzDictionary.json)
    }
  }
}
