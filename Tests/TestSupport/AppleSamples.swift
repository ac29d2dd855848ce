package import Foundation

/// Real signed data, which is never part of the project. Tests that use it are skipped when it is
/// absent.
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

    /// The manifest's verdict under its name in this project; nil when it is unknown.
    package var verdictName: String? {
      switch verdictOffline {
      case "OK": "OK"
      case "INVALID_ENVIRONMENT": "WRONG_ENVIRONMENT"
      case "VERIFICATION_FAILURE": "CERTIFICATE_EXPIRED"
      default: nil
      }
    }

    /// The kind under its name in this project.
    package var kindName: String {
      kind == "renewal" ? "RENEWAL_INFO" : kind.uppercased()
    }

    /// The path of the file.
    package var path: String { AppleSamples.path(of: file) }
  }

  /// Nil when the samples are absent.
  package static let folder: URL? = {
    let named = ProcessInfo.processInfo.environment["APPLE_SIGNED_SAMPLES"]
    // The sources may be reached by a symbolic link, so the real path is used.
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

  /// The JWS samples, without the receipts.
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
