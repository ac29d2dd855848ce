import AppStoreServerAPI
import EntitlementDomain
import Foundation
import YAMLFiles
import Yams

/// The keys of the App Store Server API: the section `app_store` of the settings file.
///
/// ```yaml
/// app_store:
///   keys:
///     - issuer_id: 11111111-2222-3333-4444-555555555555
///       key_id: ABC123DEFG
///       private_key_file: /etc/entitle/AuthKey_ABC123DEFG.p8
///       bundle_ids: [com.example.scribe]
///   rate_factor: 40
/// ```
struct AppStoreSettings: Sendable {
  /// Read now. A key in a file follows its file.
  let keys: AppStoreServerKeys
  /// Of Apple's rates, for a simulator on this machine; nil: the client's. It is read at the start only.
  var rateFactor: Double?

  static let section = "app_store"
  static var sectionNode: Node { Node(section) }

  /// Why there are no keys: the issues of the file, one on each line. Shows nothing of a key.
  struct Invalid: Error, Hashable, CustomStringConvertible {
    let description: String
  }

  /// Reads the section, and the keys that it names. Blocks.
  ///
  /// - Returns: nil if the file has no such section.
  /// - Throws: ``Invalid``. A file with the section is read as strictly as a catalog.
  static func read(
    _ source: AppStoreSettingsSource
  ) throws(Invalid) -> AppStoreSettings? {
    let text = try source.text()
    let path = source.file.path
    let mapping = try? Yams.compose(yaml: text)?.mapping
    if let mapping, mapping[sectionNode] == nil { return nil }
    let root: YAMLNode?
    do {
      root = try YAMLReader.document(in: text)
    } catch {
      throw Invalid(
        description: "\(path): line \(error.position.line), document: error: \(error.message)")
    }
    guard let node = root?.mapping?.first(where: { $0.key == section })?.value else {
      // A file that is no longer YAML, or is empty, is not one without the section.
      throw Invalid(description: "\(path): settings in YAML are expected")
    }
    var reader = AppStoreSettingsReader(credentialsDirectory: source.credentialsDirectory)
    let keys = reader.keys(from: node)
    guard let keys, !reader.issues.hasErrors else {
      throw Invalid(
        description: reader.issues.sorted.map { "\(path): \($0)" }.joined(separator: "\n"))
    }
    return AppStoreSettings(keys: keys, rateFactor: reader.rateFactor)
  }

  /// For `--check-config`: each key with its apps.
  var summary: String {
    let apps = keys.bundleIDs.count
    return keys.keys.map { key in
      key.bundleIDs.count == 1
        ? "\(key.keyID) for \(key.bundleIDs[0])" : "\(key.keyID) for \(key.bundleIDs.count) apps"
    }.joined(separator: ", ") + (keys.keys.count > 1 ? " (\(apps) apps)" : "")
  }

  /// What is of no use in the section, a sentence each.
  func warnings(_ catalog: Catalog) -> [String] {
    keys.bundleIDs.filter { catalog.apps[$0] == nil }.map(\.rawValue).sorted().map { app in
      "\(Self.section): \(app) has a key, and is not in the catalog"
    }
  }
}

/// The settings file as a source of ``AppStoreSettings``.
struct AppStoreSettingsSource: Sendable {
  let file: FileOnDisk
  /// Of systemd (`$CREDENTIALS_DIRECTORY`); nil: there are no credentials.
  let credentialsDirectory: String?

  /// Bytes of a settings file: 64 keys with a thousand apps each have less.
  private static let maximumBytes = 16 << 20

  func text() throws(AppStoreSettings.Invalid) -> String {
    let reason: String
    do throws(FileOnDisk.Unreadable) {
      let bytes = try file.bytes(limit: Self.maximumBytes)
      if bytes.count <= Self.maximumBytes, let text = String(validating: bytes, as: UTF8.self) {
        return text
      }
      reason = "it is not UTF-8, or larger than \(Self.maximumBytes) bytes"
    } catch {
      reason = error.description
    }
    throw AppStoreSettings.Invalid(
      description: "the configuration file \(file.path) cannot be read: \(reason)")
  }
}

/// Reads the section, and reports all that is wrong with it. No message repeats the value of a field
/// that should name a key: it may be the key itself, put there by mistake.
private struct AppStoreSettingsReader: YAMLFileReader {
  var issues = FileIssues()
  let credentialsDirectory: String?
  private var apps: Set<String> = []
  private(set) var rateFactor: Double?

  private static let maximumKeys = 64
  private static let maximumApps = 1_000
  /// The longest path of Linux.
  private static let maximumPathLength = 4_096

  init(credentialsDirectory: String?) {
    self.credentialsDirectory = credentialsDirectory
  }

  mutating func keys(from node: YAMLNode) -> AppStoreServerKeys? {
    let path = AppStoreSettings.section
    guard var fields = fields(of: node, at: path, allowed: ["keys", "rate_factor"]) else {
      return nil
    }
    if let factor = fields.take("rate_factor") {
      rateFactor = factor.scalar.flatMap { Double($0) }
      if rateFactor.map({ (0.001...10_000).contains($0) }) != true {
        report("a number from 0.001 to 10000 is expected", at: path + ".rate_factor", factor)
      }
    }
    let list = fields.take("keys")
    let items = sequence(list, at: path + ".keys", required: node)
    guard items.count <= Self.maximumKeys else {
      report("at most \(Self.maximumKeys) keys are possible", at: path + ".keys", list ?? node)
      return nil
    }
    var keys: [AppStoreServerKey] = []
    for (index, item) in items.enumerated() {
      if let key = key(item, at: "\(path).keys[\(index)]") { keys.append(key) }
    }
    do {
      return issues.hasErrors ? nil : try AppStoreServerKeys(keys)
    } catch {
      report(error.description, at: path + ".keys", list ?? node)
      return nil
    }
  }

  private mutating func key(_ node: YAMLNode, at path: String) -> AppStoreServerKey? {
    let fields = fields(
      of: node, at: path,
      allowed: ["issuer_id", "key_id", "private_key_file", "private_key_credential", "bundle_ids"])
    guard var fields else { return nil }
    let issuer = issuerID(fields.take("issuer_id"), at: path + ".issuer_id", in: node)
    let id = keyID(fields.take("key_id"), at: path + ".key_id", in: node)
    let bundleIDs = bundleIDs(fields.take("bundle_ids"), at: path + ".bundle_ids", in: node)
    let file = fields.take("private_key_file")
    let credential = fields.take("private_key_credential")
    guard (file == nil) != (credential == nil) else {
      report("one of private_key_file and private_key_credential is needed", at: path, node)
      return nil
    }
    if let file {
      let field = path + ".private_key_file"
      guard let name = pathOfFile(file, at: field), let issuer, let id, let bundleIDs else {
        return nil
      }
      return made(at: field, file, hiding: "\(name): ") { () throws(AppStoreServerKeyError) in
        try AppStoreServerKey(
          issuerID: issuer, keyID: id, bundleIDs: bundleIDs, privateKeyFile: name)
      }
    }
    guard let credential else { return nil }
    let field = path + ".private_key_credential"
    guard let pem = credentialContent(credential, at: field), let issuer, let id, let bundleIDs
    else { return nil }
    return made(at: field, credential) { () throws(AppStoreServerKeyError) in
      try AppStoreServerKey(issuerID: issuer, keyID: id, bundleIDs: bundleIDs, privateKeyPEM: pem)
    }
  }

  /// - Parameter prefix: Of the description of an error; not repeated.
  private mutating func made(
    at field: String, _ node: YAMLNode, hiding prefix: String = "",
    _ make: () throws(AppStoreServerKeyError) -> AppStoreServerKey
  ) -> AppStoreServerKey? {
    do throws(AppStoreServerKeyError) {
      return try make()
    } catch {
      let text = error.description
      report(
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text, at: field, node)
      return nil
    }
  }

  // MARK: Fields

  private mutating func issuerID(_ node: YAMLNode?, at path: String, in parent: YAMLNode) -> String?
  {
    guard let text = identifier(node, at: path, in: parent), let node else { return nil }
    guard text.utf8.count == 36, UUID(uuidString: text) != nil else {
      report("a UUID is expected, as App Store Connect shows it", at: path, node)
      return nil
    }
    return text
  }

  private mutating func keyID(_ node: YAMLNode?, at path: String, in parent: YAMLNode) -> String? {
    guard let text = identifier(node, at: path, in: parent), let node else { return nil }
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
    guard isPlain, (2...64).contains(text.utf8.count) else {
      report("a key id has 2 to 64 letters and digits", at: path, node)
      return nil
    }
    return text
  }

  private mutating func bundleIDs(
    _ node: YAMLNode?, at path: String, in parent: YAMLNode
  ) -> [BundleID]? {
    let items = sequence(node, at: path, required: parent)
    guard items.count <= Self.maximumApps else {
      report("at most \(Self.maximumApps) apps are possible", at: path, node ?? parent)
      return nil
    }
    var ids: [BundleID] = []
    for (index, item) in items.enumerated() {
      let field = "\(path)[\(index)]"
      guard let id = identifier(item, at: field, in: item) else { continue }
      if !apps.insert(id).inserted { report("the app has two keys", at: field, item) }
      ids.append(BundleID(id))
    }
    return ids.isEmpty || ids.count < items.count ? nil : ids
  }

  private mutating func pathOfFile(_ node: YAMLNode, at path: String) -> String? {
    guard let text = node.scalar, !text.isEmpty, text.utf8.count <= Self.maximumPathLength,
      !text.contains("PRIVATE KEY"),
      text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else {
      report("the path of a .p8 file is expected", at: path, node)
      return nil
    }
    return text
  }

  /// Reads a credential that systemd passed (systemd.exec(5), `LoadCredential=`).
  private mutating func credentialContent(_ node: YAMLNode, at path: String) -> [UInt8]? {
    guard let name = node.scalar, (1...255).contains(name.utf8.count), !name.contains("/"),
      ![".", ".."].contains(name), !name.contains("PRIVATE KEY"),
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else {
      report("the name of a systemd credential is expected", at: path, node)
      return nil
    }
    guard let credentialsDirectory else {
      report("there are no systemd credentials: $CREDENTIALS_DIRECTORY is not set", at: path, node)
      return nil
    }
    let limit = AppStoreServerKey.maximumFileLength
    do throws(FileOnDisk.Unreadable) {
      let content = try FileOnDisk(path: "\(credentialsDirectory)/\(name)").bytes(limit: limit) {
        // systemd gives the group of its copies, root's, the right to read.
        $0.st_mode & 0o007 == 0 ? nil : "other users may read the key"
      }
      if content.count <= limit { return content }
      report("no key, as it has more than \(limit) bytes", at: path, node)
    } catch {
      report(error.description, at: path, node)
    }
    return nil
  }
}
