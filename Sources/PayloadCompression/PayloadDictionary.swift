import Cryptography
import CZstd

/// A dictionary of zstd: text that payloads have in common, so that a compressed payload holds only
/// what is its own. Whoever reads a payload needs the dictionary that it was written with, so a
/// dictionary is never changed nor deleted.
// @unchecked: zstd allows any number of threads to use a digested dictionary, which is immutable.
package final class PayloadDictionary: @unchecked Sendable {
  /// Names the dictionary within a database. 0 means none.
  package let number: UInt32
  package let bytes: [UInt8]
  /// The SHA-256 of ``bytes``.
  package let digest: [UInt8]
  let compression: OpaquePointer
  let expansion: OpaquePointer

  /// The most bytes that a dictionary may have.
  package static let maximumByteCount = 1 << 20

  /// The level of zstd. The levels above take a multiple of the time, for some bytes of a payload.
  static let level: Int32 = 3

  /// - Throws: ``PayloadCompressionError/unusableDictionary``.
  package init(number: UInt32, bytes: [UInt8]) throws(PayloadCompressionError) {
    guard number > 0, bytes.count <= Self.maximumByteCount,
      // 0: bytes that are no dictionary. zstd would take them for mere text.
      bytes.withUnsafeBytes({ ZDICT_getDictID($0.baseAddress, $0.count) }) != 0,
      let digest = try? SHA256.digest(of: bytes).bytes
    else { throw .unusableDictionary }
    let compression = bytes.withUnsafeBytes {
      ZSTD_createCDict($0.baseAddress, $0.count, Self.level)
    }
    let expansion = bytes.withUnsafeBytes { ZSTD_createDDict($0.baseAddress, $0.count) }
    guard let compression, let expansion else {
      ZSTD_freeCDict(compression)
      ZSTD_freeDDict(expansion)
      throw .unusableDictionary
    }
    self.number = number
    self.bytes = bytes
    self.digest = digest
    self.compression = compression
    self.expansion = expansion
  }

  deinit {
    ZSTD_freeCDict(compression)
    ZSTD_freeDDict(expansion)
  }
}

extension PayloadDictionary {
  /// The dictionary that comes with the program, number 1. It was trained on payloads of simulated
  /// customers. Databases refer to it, so its bytes never change.
  package static let shipped: PayloadDictionary = {
    do throws(PayloadCompressionError) {
      return try PayloadDictionary(number: 1, bytes: PackageResources.shipped_dictionary)
    } catch {
      // A test reads it. What remains is memory that runs out at the start.
      preconditionFailure("the shipped dictionary cannot be used")
    }
  }()
}
