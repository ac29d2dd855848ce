/// Why the stored form of a payload cannot be read. It contains nothing of the payload.
package enum PayloadCompressionError: Error, Hashable {
  /// The payload was stored with a dictionary of this number, which this program does not have.
  case unknownDictionary(UInt32)
  /// The bytes are not what ``PayloadCompressor/stored(_:header:texts:)`` makes.
  case damaged
}
