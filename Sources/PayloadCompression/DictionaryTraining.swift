import CZstd

/// Makes dictionaries from samples.
package enum DictionaryTraining {
  /// The bytes of a dictionary. Larger ones hardly make payloads smaller.
  package static let byteCount = 32 << 10
  /// The fewest samples. With fewer, a dictionary would be their text.
  package static let minimumSamples = 500

  /// - Parameter samples: of ``PayloadCompressor/sample(of:header:texts:)``. A hundred times the bytes of the
  ///   dictionary is enough.
  /// - Returns: the bytes of a ``PayloadDictionary``. The same samples give the same dictionary.
  /// - Throws: ``PayloadCompressionError/tooFewSamples``.
  package static func dictionary(
    from samples: [[UInt8]], byteCount: Int = byteCount
  ) throws(PayloadCompressionError) -> [UInt8] {
    guard samples.count >= minimumSamples else { throw .tooFewSamples }
    let joined = Array(samples.joined())
    let lengths = samples.map(\.count)
    let dictionary = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      let made = ZDICT_trainFromBuffer(
        buffer.baseAddress, buffer.count, joined, lengths, UInt32(lengths.count))
      count = ZDICT_isError(made) == 0 ? made : 0
    }
    guard !dictionary.isEmpty else { throw .tooFewSamples }
    return dictionary
  }
}
