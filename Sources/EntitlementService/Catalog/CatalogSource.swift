package import CatalogFiles
import Cryptography
package import EntitlementDomain

/// Reads the catalog file from an injected source of bytes.
package struct CatalogSource: Sendable {
  /// The file cannot be read. The reason is one sentence for people.
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

  /// Returns the current bytes of the file, at most one more than ``CatalogFile/maximumBytes``. May
  /// block.
  private let bytes: @Sendable () throws(Unreadable) -> [UInt8]

  package init(bytes: @escaping @Sendable () throws(Unreadable) -> [UInt8]) {
    self.bytes = bytes
  }

  /// Reads and parses the file. Blocks meanwhile.
  ///
  /// - Throws: ``Unreadable`` for a file that cannot be read, is too large or is not UTF-8. A file
  ///   with errors is a failure in ``Reading/contents``.
  package func read() throws(Unreadable) -> Reading {
    let bytes = try bytes()
    guard bytes.count <= CatalogFile.maximumBytes else {
      throw Unreadable("it is larger than \(CatalogFile.maximumBytes) bytes")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Unreadable("it is not UTF-8")
    }
    guard let digest = try? SHA256.digest(of: bytes) else {
      throw Unreadable("its digest cannot be computed")
    }
    let contents = Result { () throws(CatalogError) in try CatalogFile.parse(text) }
    return Reading(digest: digest.hexadecimal, contents: contents)
  }
}
