import CZstd

/// A dictionary of zstd: text that payloads have in common, so that a compressed payload holds only
/// what is its own. A payload is read with the dictionary that it was written with, so the bytes of a
/// dictionary never change.
// @unchecked: zstd allows any number of threads to use a digested dictionary, which is immutable.
final class PayloadDictionary: @unchecked Sendable {
  /// Stored with each payload that was compressed with the dictionary.
  let number: UInt32
  let compression: OpaquePointer
  let expansion: OpaquePointer

  /// The dictionary that comes with the program. `deploy/train-dictionary` made it.
  static let shipped = PayloadDictionary(number: 1, bytes: PackageResources.shipped_dictionary)

  /// The level of zstd. The levels above take a multiple of the time, for some bytes of a payload.
  private static let level: Int32 = 3

  private init(number: UInt32, bytes: [UInt8]) {
    let compression = bytes.withUnsafeBytes {
      ZSTD_createCDict($0.baseAddress, $0.count, Self.level)
    }
    let expansion = bytes.withUnsafeBytes { ZSTD_createDDict($0.baseAddress, $0.count) }
    guard let compression, let expansion else {
      // A test uses the bytes. What remains is memory that runs out at the start.
      preconditionFailure("the shipped dictionary cannot be used")
    }
    self.number = number
    self.compression = compression
    self.expansion = expansion
  }

  deinit {
    ZSTD_freeCDict(compression)
    ZSTD_freeDDict(expansion)
  }
}
