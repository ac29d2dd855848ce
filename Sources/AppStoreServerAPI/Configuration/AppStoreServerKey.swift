import Cryptography
package import EntitlementDomain
import NIOCore
import Synchronization

/// Why a key cannot be used. Never holds a part of the key.
package struct AppStoreServerKeyError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Something about a key that operators should read in the log.
package struct AppStoreServerKeyEvent: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// The file was replaced, and its key is in force.
    case renewed
    /// The file cannot be used. The former key stays in force.
    case unusable
  }

  package let kind: Kind
  package let keyID: String
  /// One line, without a full stop.
  package let detail: String
}

/// An In-App Purchase key of App Store Connect: a P-256 key in PEM (PKCS #8, `.p8`) with its ids, and
/// the apps that it is used for. It signs the tokens of calls, and caches them.
///
/// A key in a file is read again when the file changes. A call checks the file, once a second at
/// most. Users other than its owner must not be able to read it.
package final class AppStoreServerKey: Sendable {
  package let issuerID: String
  package let keyID: String
  package let bundleIDs: [BundleID]
  /// Nil for a key that was given as a value.
  package let file: String?

  /// A key in PEM has about 260 bytes.
  package static let maximumFileLength = 16_384
  private static let maximumIDLength = 128
  /// Apps of a key. An account may have hundreds.
  private static let maximumApps = 1_000
  private static let checkInterval = TimeAmount.seconds(1)
  /// The shortest time between two checks of the file, however many calls are refused.
  private static let shortestInterval = TimeAmount.milliseconds(100)

  private struct State {
    var key: SigningKey
    /// Of the file that was read last, whether it could be used or not.
    var version: FileVersion?
    var problem: String?
    var lastCheck = NIODeadline.distantPast
    var nextCheck = NIODeadline.distantPast
    var tokens: [BundleID: ServerToken] = [:]
  }

  private let state: Mutex<State>

  /// A key in a file, which is read now and followed.
  ///
  /// - Throws: ``AppStoreServerKeyError`` with the path and the reason.
  package init(
    issuerID: String, keyID: String, bundleIDs: [BundleID], privateKeyFile: String
  ) throws(AppStoreServerKeyError) {
    try Self.check(issuerID, keyID, bundleIDs)
    let version = FileVersion(privateKeyFile)
    let key = try Self.key(inFile: privateKeyFile)
    self.issuerID = issuerID
    self.keyID = keyID
    self.bundleIDs = bundleIDs
    file = privateKeyFile
    state = Mutex(State(key: key, version: version))
  }

  /// A key that does not change, such as a credential that systemd passed.
  ///
  /// - Throws: ``AppStoreServerKeyError``.
  package init(
    issuerID: String, keyID: String, bundleIDs: [BundleID], privateKeyPEM: [UInt8]
  ) throws(AppStoreServerKeyError) {
    try Self.check(issuerID, keyID, bundleIDs)
    guard let key = Self.key(privateKeyPEM) else {
      throw AppStoreServerKeyError("the private key is \(Self.notAKey)")
    }
    self.issuerID = issuerID
    self.keyID = keyID
    self.bundleIDs = bundleIDs
    file = nil
    state = Mutex(State(key: key))
  }

  /// Why the present content of the file is not used; nil when it is.
  package var problem: String? { state.withLock { $0.problem } }

  // MARK: Tokens

  /// A token for calls about `app`, and what was noticed about the file on the way.
  ///
  /// - Throws: ``CryptographyError`` when the key cannot sign.
  func token(
    for app: BundleID, now: Milliseconds, uptime: NIODeadline
  ) throws(CryptographyError) -> (token: ServerToken, isNew: Bool, event: AppStoreServerKeyEvent?) {
    try state.withLock { (state) throws(CryptographyError) in
      let event = follow(&state, uptime)
      if let token = state.tokens[app], token.isFresh(now) { return (token, false, event) }
      let token = try ServerToken(
        key: state.key, issuerID: issuerID, keyID: keyID, app: app, now: now)
      state.tokens[app] = token
      return (token, true, event)
    }
  }

  /// A server refused the token. The next call checks the file, and signs a new token.
  func refused(_ token: ServerToken, for app: BundleID) {
    state.withLock { state in
      // Another call may have a new one already.
      if state.tokens[app] == token { state.tokens[app] = nil }
      state.nextCheck = min(state.nextCheck, state.lastCheck + Self.shortestInterval)
    }
  }

  /// The key for a signature of an offer, and what was noticed about the file on the way. The signature
  /// is made without the lock.
  func signingKey(uptime: NIODeadline) -> (key: SigningKey, event: AppStoreServerKeyEvent?) {
    state.withLock { state in
      let event = follow(&state, uptime)
      return (state.key, event)
    }
  }

  private func follow(_ state: inout State, _ uptime: NIODeadline) -> AppStoreServerKeyEvent? {
    guard let file, uptime >= state.nextCheck else { return nil }
    state.lastCheck = uptime
    state.nextCheck = uptime + Self.checkInterval
    // Before the file is read: a change in between is seen at the next check.
    let version = FileVersion(file)
    // A file with a problem is read each time: the owner and the mode are not part of the version.
    if let version, version == state.version, state.problem == nil { return nil }
    state.version = version
    do throws(AppStoreServerKeyError) {
      state.key = try Self.key(inFile: file)
      state.tokens = [:]
      state.problem = nil
      return AppStoreServerKeyEvent(kind: .renewed, keyID: keyID, detail: "\(file): read again")
    } catch {
      // The same problem is reported once.
      guard state.problem != error.description else { return nil }
      state.problem = error.description
      return AppStoreServerKeyEvent(kind: .unusable, keyID: keyID, detail: error.description)
    }
  }

  // MARK: Reading

  private static let notAKey = "not a P-256 key in PEM (PKCS #8, without a password)"

  private static func key(inFile path: String) throws(AppStoreServerKeyError) -> SigningKey {
    let content: SecretFile
    do throws(SecretFile.Fault) {
      // A pipe could not be read again.
      content = try SecretFile(
        reading: path, maximumBytes: maximumFileLength, mayBePipe: false)
    } catch {
      switch error {
      case .unreadable: throw AppStoreServerKeyError("\(path): the key cannot be read")
      case .notRegular: throw AppStoreServerKeyError("\(path): a regular file is expected")
      case .readableByOthers:
        throw AppStoreServerKeyError("\(path): other users may read the key (chmod 600)")
      case .tooLong:
        throw AppStoreServerKeyError(
          "\(path): no key, as it has more than \(maximumFileLength) bytes")
      }
    }
    guard let key = key(content.bytes) else {
      throw AppStoreServerKeyError("\(path): \(notAKey)")
    }
    return key
  }

  private static func key(_ pem: [UInt8]) -> SigningKey? {
    guard let key = try? SigningKey(privateKeyPEM: pem), key.curve == .p256 else { return nil }
    return key
  }

  private static func check(
    _ issuerID: String, _ keyID: String, _ bundleIDs: [BundleID]
  ) throws(AppStoreServerKeyError) {
    for (name, id) in [("issuer_id", issuerID), ("key_id", keyID)] {
      guard (1...maximumIDLength).contains(id.utf8.count), id.utf8.allSatisfy(isIDCharacter) else {
        throw AppStoreServerKeyError("\(name): letters, digits, - _ and . are expected")
      }
    }
    guard (1...maximumApps).contains(bundleIDs.count) else {
      throw AppStoreServerKeyError("a key needs 1 to \(maximumApps) bundle ids")
    }
    if let id = bundleIDs.first(where: { !$0.rawValue.utf8.allSatisfy(isIDCharacter) }) {
      throw AppStoreServerKeyError("\(id): a bundle id has letters, digits, - and . only")
    }
    guard !bundleIDs.contains("") else { throw AppStoreServerKeyError("a bundle id is empty") }
  }

  private static func isIDCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }
}

/// The keys of all apps.
package struct AppStoreServerKeys: Sendable {
  package let keys: [AppStoreServerKey]
  private let keyOfApp: [BundleID: AppStoreServerKey]

  /// Keys of one server.
  private static let maximumKeys = 64

  /// No keys: each call is ``AppStoreServerError/Code/noKey``.
  package init() {
    keys = []
    keyOfApp = [:]
  }

  /// - Throws: ``AppStoreServerKeyError`` when an app is named twice, and for too many keys.
  package init(_ keys: [AppStoreServerKey]) throws(AppStoreServerKeyError) {
    guard keys.count <= Self.maximumKeys else {
      throw AppStoreServerKeyError("there are more than \(Self.maximumKeys) keys")
    }
    var keyOfApp: [BundleID: AppStoreServerKey] = [:]
    for key in keys {
      for app in key.bundleIDs {
        guard keyOfApp.updateValue(key, forKey: app) == nil else {
          throw AppStoreServerKeyError("\(app): the app has two keys")
        }
      }
    }
    self.keys = keys
    self.keyOfApp = keyOfApp
  }

  /// The apps that have a key.
  package var bundleIDs: Set<BundleID> { Set(keyOfApp.keys) }

  /// The keys whose files cannot be used at present.
  package var problems: [(keyID: String, problem: String)] {
    keys.compactMap { key in key.problem.map { (key.keyID, $0) } }
  }

  subscript(app: BundleID) -> AppStoreServerKey? { keyOfApp[app] }
}
