import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@Suite("The authority of the simulated App Store")
struct SigningAuthorityTests {
  @Test("Its certificates have Apple's structure and extensions")
  func shape() throws {
    let authority = try SigningAuthority.generate()
    let root = try Certificate(der: authority.root.certificate)
    let intermediate = try Certificate(der: authority.intermediate.certificate)
    let leaf = try Certificate(der: authority.leaf.certificate)
    #expect(leaf.hasExtension("1.2.840.113635.100.6.11.1"))
    #expect(intermediate.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(try leaf.isIssued(by: intermediate) && intermediate.isIssued(by: root))
    #expect(root.isAuthority && intermediate.isAuthority && !leaf.isAuthority)
    #expect(authority.root.key.curve == .p384 && authority.intermediate.key.curve == .p384)
    #expect(authority.leaf.key.curve == .p256)
    #expect(authority.rootFingerprint == root.fingerprint)
    for certificate in [root, intermediate, leaf] {
      #expect(certificate.validity.contains(SimulatedCalendar.range.lowerBound.rawValue))
      #expect(certificate.validity.contains(SimulatedCalendar.range.upperBound.rawValue))
    }
  }

  @Test("It signs compact JWS under one header, with a valid signature")
  func signing() throws {
    let authority = try SigningAuthority.generate()
    let payload = Array(#"{"transactionId":"1"}"#.utf8)
    let parts = try authority.sign(payloadJSON: payload).split(
      separator: ".", omittingEmptySubsequences: false)
    try #require(parts.count == 3)
    #expect(Array(parts[0].utf8) == authority.headerSegment)
    #expect(try Base64Form.urlWithoutPadding.decode(parts[1].utf8) == payload)
    let header = String(
      decoding: try Base64Form.urlWithoutPadding.decode(parts[0].utf8), as: UTF8.self)
    let chain = [authority.leaf, authority.intermediate, authority.root].map {
      "\"" + String(decoding: Base64Form.standard.encode($0.certificate), as: UTF8.self) + "\""
    }
    #expect(header == #"{"alg":"ES256","x5c":["# + chain.joined(separator: ",") + "]}")
    let key = try Certificate(der: authority.leaf.certificate).verifyingKey()
    #expect(
      try key.isValidSignature(
        Base64Form.urlWithoutPadding.decode(parts[2].utf8),
        of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test("It keeps its fingerprint and header over a reload, in files that only the owner can read")
  func reload() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/new/authority"
    let made = try SigningAuthority.loadOrCreate(inDirectory: path)
    let loaded = try SigningAuthority.loadOrCreate(inDirectory: path)
    #expect(loaded.rootFingerprint == made.rootFingerprint)
    #expect(loaded.headerSegment == made.headerSegment)
    #expect(
      try SigningAuthority.load(fromDirectory: path).rootFingerprint == made.rootFingerprint)
    let files = try directory.files(in: "new/authority")
    #expect(files.count == 6)
    for file in files {
      #expect(try directory.permissions(of: "new/authority/\(file)") == 0o600, "\(file)")
    }
    #expect(try directory.permissions(of: "new/authority") == 0o700)
    #expect(
      try Certificate.certificates(inFile: loaded.rootPEM()).first?.fingerprint
        == made.rootFingerprint)
  }

  @Test("Two authorities are never the same")
  func different() throws {
    #expect(
      try SigningAuthority.generate().rootFingerprint
        != SigningAuthority.generate().rootFingerprint)
  }

  @Test("An incomplete directory is refused and left as it is")
  func incomplete() throws {
    let directory = try TemporaryDirectory()
    _ = try SigningAuthority.loadOrCreate(inDirectory: directory.path)
    try directory.removeFile("leaf.key.pem")
    let error = #expect(throws: SimulatorError.self) {
      try SigningAuthority.loadOrCreate(inDirectory: directory.path)
    }
    #expect(error?.code == .damagedAuthority)
    #expect(error?.message.contains("leaf.key.pem") == true)
    #expect(try directory.files(in: "").count == 5)
  }

  @Test("Files that do not belong together are refused")
  func mixed() throws {
    let directory = try TemporaryDirectory()
    _ = try SigningAuthority.loadOrCreate(inDirectory: "\(directory.path)/one")
    _ = try SigningAuthority.loadOrCreate(inDirectory: "\(directory.path)/two")
    // First a key without its certificate, then a root that has not issued the intermediate.
    for file in ["root.key.pem", "root.pem"] {
      try directory.copyFile("two/\(file)", to: "one/\(file)")
      let error = #expect(throws: SimulatorError.self) {
        try SigningAuthority.load(fromDirectory: "\(directory.path)/one")
      }
      #expect(error?.code == .damagedAuthority, "\(file)")
    }
  }

  @Test("Garbage in a file is refused, and the error names the file")
  func garbage() throws {
    let directory = try TemporaryDirectory()
    _ = try SigningAuthority.loadOrCreate(inDirectory: directory.path)
    try directory.replaceFile("intermediate.pem", with: "garbage")
    let error = #expect(throws: SimulatorError.self) {
      try SigningAuthority.load(fromDirectory: directory.path)
    }
    #expect(error?.code == .damagedAuthority)
    #expect(error?.message.contains("intermediate.pem") == true)
  }

  @Test("A directory that cannot be written is an error")
  func notADirectory() throws {
    let directory = try TemporaryDirectory()
    try directory.replaceFile("file", with: "")
    let error = #expect(throws: SimulatorError.self) {
      try SigningAuthority.loadOrCreate(inDirectory: "\(directory.path)/file/authority")
    }
    #expect(error?.code == .file)
  }
}
