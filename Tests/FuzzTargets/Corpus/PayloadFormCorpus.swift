import PayloadCompression

/// Seeds of ``PayloadFormProbe``: the stored forms of simulated payloads and notifications.
enum PayloadFormCorpus {
  static func seeds(_ customers: [CorpusCustomer]) -> [FuzzSeed] {
    let compressor = PayloadCompressor()
    var seeds: [FuzzSeed] = []
    for customer in customers {
      for payload in customer.payloads {
        seeds.append(FuzzSeed(payload.name, compressor.stored(payload.bytes)))
        seeds.append(
          FuzzSeed(
            "\(payload.name)-row", compressor.stored(payload.bytes, texts: PayloadFormProbe.texts)))
      }
      guard let notification = customer.notification else { continue }
      let payload = PayloadFormProbe.notification(notification.bytes)
      seeds.append(
        FuzzSeed(
          notification.name, compressor.stored(payload, header: PayloadFormProbe.header)))
    }
    seeds.append(FuzzSeed("plain", compressor.stored([1, 2, 3])))
    seeds.append(FuzzSeed("empty", []))
    return seeds.unique
  }
}
