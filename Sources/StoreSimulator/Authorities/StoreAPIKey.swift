package import Cryptography

/// The key with which a developer signs requests of the App Store Server API: an In-App Purchase
/// key of App Store Connect, on P-256.
package struct StoreAPIKey: Sendable {
  /// `iss` of tokens: a UUID.
  package let issuerID: String
  /// `kid` of tokens: ten capital letters and digits.
  package let keyID: String
  package let key: SigningKey
  package let verifyingKey: VerifyingKey

  /// - Throws: ``SimulatorError/Code/cryptography`` when the key is not on P-256.
  package init(issuerID: String, keyID: String, key: SigningKey) throws(SimulatorError) {
    self.issuerID = issuerID
    self.keyID = keyID
    self.key = key
    verifyingKey = try SimulatorError.wrapping { () throws(CryptographyError) in
      try key.verifyingKey
    }
  }

  /// Generates a key.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package static func generate() throws(SimulatorError) -> StoreAPIKey {
    var random = SystemRandomNumberGenerator()
    var generator = SeededGenerator(seed: random.next())
    let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    let keyID = String((0..<10).map { _ in characters[generator.number(below: characters.count)] })
    let key = try SimulatorError.wrapping { () throws(CryptographyError) in
      try SigningKey.generate(.p256)
    }
    return try StoreAPIKey(issuerID: generator.uuid(), keyID: keyID, key: key)
  }

  /// The name of the file that App Store Connect gives a key.
  package var fileName: String { Self.fileName(keyID) }

  private static func fileName(_ keyID: String) -> String { "AuthKey_\(keyID).p8" }

  /// The file with the issuer id and the key id, a line each.
  private static let identifiersFile = "api-key"

  /// Loads the key from a directory, or generates and saves one there: a PEM file that only its
  /// owner can read.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when a file
  ///   has not the expected content, ``SimulatorError/Code/cryptography``.
  package static func loadOrCreate(inDirectory path: String) throws(SimulatorError) -> StoreAPIKey {
    let directory = PrivateDirectory(path: path)
    try directory.create()
    return try directory.withExclusiveLock { () throws(SimulatorError) in
      if try directory.hasFile(identifiersFile) { return try load(from: directory) }
      let made = try generate()
      let pem = try SimulatorError.wrapping { () throws(CryptographyError) in
        try made.key.privateKeyPEM()
      }
      try directory.write(pem, toNewFile: made.fileName)
      // Last, as it names the other file.
      try directory.write(
        Array("\(made.issuerID)\n\(made.keyID)\n".utf8), toNewFile: identifiersFile)
      return made
    }
  }

  private static func load(from directory: PrivateDirectory) throws(SimulatorError) -> StoreAPIKey {
    let lines = String(decoding: try directory.read(identifiersFile), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    guard lines.count == 2, lines[1].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else {
      throw SimulatorError(
        .damagedAuthority, "\(directory.path)/\(identifiersFile) is not a file of this program")
    }
    let pem = try directory.read(fileName(lines[1]))
    let key = try SimulatorError.wrapping { () throws(CryptographyError) in
      try SigningKey(privateKeyPEM: pem)
    }
    return try StoreAPIKey(issuerID: lines[0], keyID: lines[1], key: key)
  }
}
