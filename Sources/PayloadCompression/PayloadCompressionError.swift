/// Why the stored form of a payload cannot be read, or a dictionary cannot be made. It contains
/// nothing of the payload.
package enum PayloadCompressionError: Error, Hashable {
  /// The payload was stored with a dictionary of this number, which is not known here (yet).
  case unknownDictionary(UInt32)
  /// The bytes are not what ``PayloadCompressor/stored(_:header:texts:with:)`` makes.
  case damaged
  /// The bytes are no dictionary, or zstd has no memory for it.
  case unusableDictionary
  /// There are too few samples to train a dictionary, or they are too much alike.
  case tooFewSamples
}
