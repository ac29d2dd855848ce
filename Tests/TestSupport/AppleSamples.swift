package import Foundation

/// Real signed data, kept beside the project and never inside it. Tests that use it are skipped
/// where it is absent.
package enum AppleSamples {
  package struct Entry: Decodable, Sendable, CustomStringConvertible {
    package struct Expectation: Decodable, Sendable {
      package let environment: String
      package let bundleId: String
    }

    package let file: String
    package let kind: String
    package let verdictOffline: String?
    package let verifiedAs: Expectation?

    enum CodingKeys: String, CodingKey {
      case file, kind
      case verdictOffline = "verdict_offline"
      case verifiedAs = "verified_as"
    }

    package var description: String { file }

    /// The manifest's verdict by the name that it has here; nil when it says something new.
    package var verdictName: String? {
      switch verdictOffline {
      case "OK": "OK"
      case "INVALID_ENVIRONMENT": "WRONG_ENVIRONMENT"
      case "VERIFICATION_FAILURE": "CERTIFICATE_EXPIRED"
      default: nil
      }
    }

    /// The kind by the name that it has here.
    package var kindName: String {
      kind == "renewal" ? "RENEWAL_INFO" : kind.uppercased()
    }

    /// Where it lies.
    package var path: String { AppleSamples.path(of: file) }
  }

  /// Nil where the samples are absent.
  package static let folder: URL? = {
    let named = ProcessInfo.processInfo.environment["APPLE_SIGNED_SAMPLES"]
    // The sources may be reached through a symbolic link, so the real path leads to the root.
    let root = URL(filePath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let folder =
      named.map { URL(filePath: $0) }
      ?? root.appending(path: "../shared/data/apple-signed").standardizedFileURL
    let manifest = folder.appending(path: "manifest.json").path(percentEncoded: false)
    return FileManager.default.fileExists(atPath: manifest) ? folder : nil
  }()

  static func path(of file: String) -> String {
    folder?.appending(path: file).path(percentEncoded: false) ?? file
  }

  package static var arePresent: Bool { folder != nil }

  /// The JWS, without the receipts.
  package static let signed: [Entry] = {
    guard let folder, let manifest = try? Data(contentsOf: folder.appending(path: "manifest.json"))
    else { return [] }
    let entries = (try? JSONDecoder().decode([Entry].self, from: manifest)) ?? []
    return entries.filter { $0.kind != "receipt" }
  }()

  package static func contents(of entry: Entry) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: entry.path)))
  }
}
