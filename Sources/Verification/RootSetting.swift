package import Cryptography
package import EntitlementDomain

/// A root certificate as an operator names it: `[ENVIRONMENT=]sha256:HEX`, or a file instead of the
/// fingerprint. Without an environment it stands for ``TrustAnchor/defaultEnvironments``.
package struct RootSetting: Hashable, Sendable {
  package enum Certificates: Hashable, Sendable {
    /// The certificate itself comes with each payload that is signed under it.
    case fingerprint(CertificateFingerprint)
    /// The path of a file with a certificate in DER, or any number of them in PEM.
    case file(String)
  }

  package let environments: Set<StoreEnvironment>
  package let certificates: Certificates

  /// Text before the first `=` is an environment unless it contains a `/`. So a misspelled environment
  /// is not mistaken for a file, and `./a=b.pem` is a file.
  ///
  /// - Throws: ``RootSettingError``.
  package init(parsing text: String) throws(RootSettingError) {
    var root = Substring(text)
    if let separator = text.firstIndex(of: "="), !text[..<separator].contains("/") {
      guard let environment = StoreEnvironment(optionName: text[..<separator]) else {
        let names = StoreEnvironment.allCases.map(\.optionName)
        throw RootSettingError(
          .unknownEnvironment, "unknown environment; known: \(names.joined(separator: ", "))")
      }
      environments = [environment]
      root = text[text.index(after: separator)...]
    } else {
      environments = TrustAnchor.defaultEnvironments
    }
    if root.lowercased().hasPrefix("sha256:") {
      do {
        certificates = .fingerprint(try CertificateFingerprint(parsing: String(root)))
      } catch {
        throw RootSettingError(.malformedFingerprint, error.message)
      }
    } else {
      guard !root.isEmpty else {
        throw RootSettingError(.unusableFile, "sha256:HEX or a file of certificates is expected")
      }
      certificates = .file(String(root))
    }
  }
}

/// Why a root certificate that an operator named cannot be used.
package struct RootSettingError: Error, Hashable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    case unknownEnvironment
    case malformedFingerprint
    /// The file cannot be read, or it does not consist of certificates.
    case unusableFile
  }

  package let code: Code
  /// One line, without the text that was parsed.
  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}

extension TrustAnchors {
  /// Adds the roots of a setting.
  ///
  /// - Parameters:
  ///   - text: see ``RootSetting``.
  ///   - read: returns the contents of a file.
  /// - Throws: ``RootSettingError``. No root is added then.
  package mutating func trust(
    setting text: String, reading read: (_ path: String) throws -> [UInt8]
  ) throws(RootSettingError) {
    let setting = try RootSetting(parsing: text)
    switch setting.certificates {
    case .fingerprint(let fingerprint):
      trust(fingerprint, for: setting.environments)
    case .file(let path):
      let contents: [UInt8]
      do {
        contents = try read(path)
      } catch {
        throw RootSettingError(.unusableFile, "the file cannot be read")
      }
      do {
        try trust(certificateFile: contents, for: setting.environments)
      } catch {
        throw RootSettingError(.unusableFile, "not a file of certificates: \(error.message)")
      }
    }
  }
}

extension TrustAnchors {
  /// The roots that the operator named, as ``RootSetting`` reads them.
  package var settings: [String] {
    named.flatMap { fingerprint, anchor in
      let isDefault = anchor.environments.isSuperset(of: TrustAnchor.defaultEnvironments)
      let others = StoreEnvironment.allCases.filter { environment in
        anchor.environments.contains(environment)
          && !(isDefault && TrustAnchor.defaultEnvironments.contains(environment))
      }
      return (isDefault ? ["\(fingerprint)"] : [])
        + others.map { "\($0.optionName)=\(fingerprint)" }
    }
  }
}

extension StoreEnvironment {
  /// Its name on a command line.
  package var optionName: String {
    switch self {
    case .production: "production"
    case .sandbox: "sandbox"
    case .xcode: "xcode"
    case .localTesting: "local-testing"
    }
  }

  /// In upper or lower case. Apple's spelling, such as `LocalTesting`, is accepted too.
  init?(optionName text: some StringProtocol) {
    let text = text.lowercased()
    let environment = Self.allCases.first {
      text == $0.optionName || text == $0.rawValue.lowercased()
    }
    guard let environment else { return nil }
    self = environment
  }
}
