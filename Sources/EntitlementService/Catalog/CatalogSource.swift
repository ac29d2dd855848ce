package import EntitlementDomain
import Verification

/// The file that the catalog comes from, wherever it is kept.
package struct CatalogSource: Sendable {
  /// Why the file cannot be read, in words.
  package struct Unreadable: Error, Sendable {
    package let reason: String

    package init(_ reason: String) {
      self.reason = reason
    }
  }

  /// A file that was read and parsed.
  package struct Reading: Sendable {
    /// SHA-256 of the file, hexadecimal.
    package let digest: String
    package let contents: Result<CatalogFile.Contents, CatalogError>
  }

  /// What is there now, at most ``CatalogFile/maximumBytes`` and one byte more. May block.
  private let bytes: @Sendable () throws(Unreadable) -> [UInt8]

  package init(bytes: @escaping @Sendable () throws(Unreadable) -> [UInt8]) {
    self.bytes = bytes
  }

  /// Reads and parses what is there now. Blocks for as long as that takes.
  package func read() throws(Unreadable) -> Reading {
    let bytes = try bytes()
    guard bytes.count <= CatalogFile.maximumBytes else {
      throw Unreadable("it is larger than \(CatalogFile.maximumBytes) bytes")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Unreadable("it is not UTF-8")
    }
    guard let digest = ContentDigest.sha256(of: bytes) else {
      throw Unreadable("its digest cannot be computed")
    }
    let contents = Result { () throws(CatalogError) in try CatalogFile.parse(text) }
    return Reading(digest: digest.hexadecimal, contents: contents)
  }
}
