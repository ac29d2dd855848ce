import Cryptography
import EntitlementDomain
import Foundation
import NIOCore
import OutboundHTTP
import Synchronization
import TestSupport
import Testing

@testable import AppStoreServerAPI

@Suite("Tokens and the keys that sign them", .timeLimit(.minutes(2)))
struct TokenTests {
  private let folder: TestSupport.TemporaryFolder

  init() throws {
    folder = try TestSupport.TemporaryFolder()
  }

  private var path: String { folder.file("AuthKey_ABC123DEFG.p8") }

  /// Replaces the file like a program that renews keys.
  private func write(_ pem: [UInt8], mode: Int = 0o600) throws {
    let new = try folder.write(String(decoding: pem, as: UTF8.self), to: "new")
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: new)
    guard rename(new, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  private func key(_ apps: [BundleID] = [Bench.app.bundleID]) throws -> AppStoreServerKey {
    try AppStoreServerKey(
      issuerID: Bench.issuerID, keyID: Bench.keyID, bundleIDs: apps, privateKeyFile: path)
  }

  private func verifies(_ token: String?, _ key: SigningKey) throws -> Bool {
    let token = try #require(DecodedToken(token))
    let certificate = try CertificateBuilder(
      subject: DistinguishedName(commonName: "Key"), serialNumber: 1, validity: 0...1,
      purpose: .signing
    ).certificate(for: key)
    return try Certificate(der: certificate).verifyingKey()
      .isValidSignature(token.signature, of: token.signed)
  }

  @Test("A token has Apple's header and claims, and verifies")
  func claims() async throws {
    try await Bench.run([.transaction]) { bench in
      _ = try await bench.transaction()
      let text = try #require(bench.server.requests.first?.token)
      let token = try #require(DecodedToken(text))
      #expect(token.header == ["alg": "ES256", "kid": Bench.keyID, "typ": "JWT"])
      #expect(token.claims.keys.sorted() == ["aud", "bid", "exp", "iat", "iss"])
      #expect(token.claims["iss"] as? String == Bench.issuerID)
      #expect(token.claims["aud"] as? String == "appstoreconnect-v1")
      #expect(token.claims["bid"] as? String == "com.example.scribe")
      let issued = TestClock.start.rawValue / 1_000 - 60
      #expect(token.integer("iat") == issued)
      #expect(token.integer("exp") == issued + 1_200)
      #expect(try verifies(text, Bench.signingKey.get()))
      #expect(try !verifies(text, SigningKey.generate(.p256)))
    }
  }

  @Test(
    "openssl verifies a token of a key that openssl wrote",
    .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"))
  func openssl() throws {
    func run(_ arguments: String...) throws -> Int32 {
      let process = Process()
      process.executableURL = URL(filePath: try #require(OpenSSL.path))
      process.arguments = arguments
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
    #expect(
      try run(
        "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path) == 0)
    #expect(try run("pkey", "-in", path, "-pubout", "-out", folder.file("public")) == 0)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let text = try key().token(for: "com.example.scribe", now: 0, uptime: .now()).token.text
    let token = try #require(DecodedToken(text))
    // DER: a sequence of two integers (RFC 3279 section 2.2.3).
    let numbers = [token.signature[..<32], token.signature[32...]].flatMap { half in
      let digits = half.drop { $0 == 0 }
      let number = (digits.first ?? 0x80) >= 0x80 ? [0] + digits : Array(digits)
      return [0x02, UInt8(number.count)] + number
    }
    try Data(token.signed).write(to: URL(filePath: folder.file("signed")))
    try Data([0x30, UInt8(numbers.count)] + numbers)
      .write(to: URL(filePath: folder.file("signature")))
    func verify() throws -> Int32 {
      try run(
        "dgst", "-sha256", "-verify", folder.file("public"), "-signature",
        folder.file("signature"), folder.file("signed"))
    }
    #expect(try verify() == 0)
    try Data(token.signed + [0]).write(to: URL(filePath: folder.file("signed")))
    #expect(try verify() != 0)
  }

  @Test("A token is used for half of its life, and not when the clock was set back")
  func cache() async throws {
    try await Bench.run([.transaction]) { bench in
      for step: Duration in [.zero, .milliseconds(599_999), .milliseconds(1), .seconds(1)] {
        bench.clock.advance(by: step)
        _ = try await bench.transaction()
      }
      _ = try await bench.transaction(in: Bench.sandbox)
      bench.clock.set(bench.clock.now.advanced(by: -60_000))
      _ = try await bench.transaction()
      let tokens = bench.server.requests.map(\.token)
      #expect(tokens[0] == tokens[1])
      #expect(tokens[1] != tokens[2])
      #expect(tokens[2] == tokens[3])
      #expect(tokens[3] == tokens[4])
      #expect(tokens[4] != tokens[5])
      #expect(bench.client.statistics.tokensSigned == 3)
      for token in tokens {
        let exp = try #require(DecodedToken(token)?.integer("exp"))
        #expect(exp * 1_000 > bench.clock.now.rawValue)
      }
    }
  }

  @Test("Each app is called with its own key, and one without a key is not called")
  func severalKeys() async throws {
    let keys = try AppStoreServerKeys([
      Bench.key([Bench.app.bundleID, "com.example.notes"]),
      AppStoreServerKey(
        issuerID: "other-issuer", keyID: "OTHER", bundleIDs: ["com.example.maps"],
        privateKeyPEM: SigningKey.generate(.p256).privateKeyPEM()),
    ])
    try await Bench.run(server: StubServer([.transaction]), keys: keys) { bench in
      for app: BundleID in ["com.example.scribe", "com.example.notes", "com.example.maps"] {
        let scope = AppScope(bundleID: app, environment: .production)
        _ = try await bench.transaction(in: scope)
      }
      let tokens = bench.server.requests.compactMap { DecodedToken($0.token) }
      #expect(tokens.map { $0.header["kid"] } == [Bench.keyID, Bench.keyID, "OTHER"])
      #expect(
        tokens.map { $0.claims["bid"] as? String } == [
          "com.example.scribe", "com.example.notes", "com.example.maps",
        ])
      #expect(tokens.last?.claims["iss"] as? String == "other-issuer")
      let stranger = AppScope(bundleID: "com.example.none", environment: .production)
      let error = await bench.failure(in: stranger)
      #expect(error?.code == .noKey)
      #expect(error?.isRetryable == false)
      // After a reload that gives the app to another key.
      bench.client.use(try AppStoreServerKeys([Bench.key([stranger.bundleID])]))
      #expect(await bench.failure(in: stranger) == nil)
      #expect(await bench.failure()?.code == .noKey)
      #expect(bench.server.requests.count == 4)
    }
  }

  @Test("An app is in one key only, and keys are checked before they are used")
  func configuration() throws {
    func refusal(_ make: () throws -> Void) -> String? {
      do {
        try make()
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(
      refusal {
        _ = try AppStoreServerKeys([
          Bench.key(["com.example.a"]), Bench.key(["com.example.b", "com.example.a"]),
        ])
      } == "com.example.a: the app has two keys")
    let pem = try Bench.signingKey.get().privateKeyPEM()
    for (issuer, keyID, apps, reason) in [
      ("", "K", ["a"], "issuer_id: letters, digits, - _ and . are expected"),
      ("I", "K\"", ["a"], "key_id: letters, digits, - _ and . are expected"),
      ("I", "K", [], "a key needs 1 to 1000 bundle ids"),
      ("I", "K", ["a b"], "a b: a bundle id has letters, digits, - and . only"),
      ("I", "K", [""], "a bundle id is empty"),
    ] as [(String, String, [BundleID], String)] {
      #expect(
        refusal {
          _ = try AppStoreServerKey(
            issuerID: issuer, keyID: keyID, bundleIDs: apps, privateKeyPEM: pem)
        } == reason)
    }
    for text in [
      "", "secret", String(decoding: try SigningKey.generate(.p384).privateKeyPEM(), as: UTF8.self),
      String(decoding: pem.dropLast(60), as: UTF8.self),
    ] {
      #expect(
        refusal {
          _ = try AppStoreServerKey(
            issuerID: "I", keyID: "K", bundleIDs: ["a"], privateKeyPEM: Array(text.utf8))
        } == "the private key is not a P-256 key in PEM (PKCS #8, without a password)")
    }
  }

  @Test("A file that others may read is refused, and so is one without a key")
  func files() throws {
    let pem = try Bench.signingKey.get().privateKeyPEM()
    func refusal() -> String? {
      do {
        _ = try key()
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(refusal() == "\(path): the key cannot be read")
    for mode in [0o644, 0o640, 0o604] {
      try write(pem, mode: mode)
      #expect(refusal() == "\(path): other users may read the key (chmod 600)")
    }
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(pem))
    try pipe.fileHandleForWriting.close()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    let piped = #expect(throws: AppStoreServerKeyError.self) {
      _ = try AppStoreServerKey(
        issuerID: "I", keyID: "K", bundleIDs: ["a"], privateKeyFile: "/dev/fd/\(descriptor)")
    }
    #expect(piped?.description == "/dev/fd/\(descriptor): a regular file is expected")
    try write(Array("secret".utf8))
    #expect(refusal() == "\(path): not a P-256 key in PEM (PKCS #8, without a password)")
    try write(pem + [UInt8](repeating: 10, count: 16_384))
    #expect(refusal() == "\(path): no key, as it has more than 16384 bytes")
    try write(pem)
    #expect(refusal() == nil)
    #expect(try key().problem == nil)
  }

  @Test("A pipe with a name is refused, and its writer is not waited for")
  func namedPipe() throws {
    try #require(mkfifo(path, 0o600) == 0)
    let refusal = Mutex("")
    let isDone = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      do {
        _ = try key()
      } catch {
        refusal.withLock { $0 = "\(error)" }
      }
      isDone.signal()
    }
    let isInTime = isDone.wait(timeout: .now() + 20) == .success
    #expect(isInTime)
    if !isInTime {
      // A writer, so that the reader ends.
      close(open(path, O_WRONLY | O_NONBLOCK))
      isDone.wait()
    }
    #expect(refusal.withLock { $0 } == "\(path): a regular file is expected")
  }

  @Test("A file that was refused for its mode is used after chmod, which changes no date of it")
  func mode() throws {
    let keys = try (0..<2).map { _ in try SigningKey.generate(.p256) }
    try write(try keys[0].privateKeyPEM())
    let key = try key()
    var uptime = NIODeadline.uptimeNanoseconds(0)
    func signedBy(_ expected: SigningKey) throws -> Bool {
      uptime = uptime + .seconds(1)
      let token = try key.token(for: Bench.app.bundleID, now: TestClock.start, uptime: uptime)
      return try verifies(token.token.text, expected)
    }
    try write(try keys[1].privateKeyPEM(), mode: 0o644)
    for _ in 0..<2 { #expect(try signedBy(keys[0])) }
    #expect(key.problem == "\(path): other users may read the key (chmod 600)")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try signedBy(keys[1]))
    #expect(key.problem == nil)
  }

  @Test("A file is followed, checked once a second; a bad one leaves the former key in force")
  func rotation() async throws {
    let keys = try (0..<3).map { _ in try SigningKey.generate(.p256) }
    try write(try keys[0].privateKeyPEM())
    let key = try key()
    let events = Mutex<[AppStoreServerKeyEvent]>([])
    let clock = TestClock()
    let server = try await StubServer([.transaction])
    var addresses = AppStoreServerAddresses()
    addresses.production = try OutboundAddress(parsing: server.url)
    let client = AppStoreServerClient(
      addresses: addresses, keys: try AppStoreServerKeys([key]), clock: clock.clock
    ) { event in events.withLock { $0.append(event) } }
    func signedBy(_ expected: SigningKey, after time: Duration) async throws -> Bool {
      clock.advance(by: time)
      _ = try await client.transaction(
        "1", in: Bench.app, deadline: clock.uptime + .minutes(1))
      return try verifies(server.requests.last?.token, expected)
    }
    #expect(try await signedBy(keys[0], after: .zero))
    try write(try keys[1].privateKeyPEM())
    #expect(try await signedBy(keys[0], after: .milliseconds(999)))
    #expect(try await signedBy(keys[1], after: .milliseconds(1)))
    #expect(events.withLock { $0.map(\.kind) } == [.renewed])
    try write(Array("half of a k".utf8))
    for _ in 0..<3 { #expect(try await signedBy(keys[1], after: .seconds(1))) }
    let problem = "\(path): not a P-256 key in PEM (PKCS #8, without a password)"
    #expect(key.problem == problem)
    #expect(client.keys.problems.map(\.keyID) == [Bench.keyID])
    #expect(client.statistics.keyFileFailures == 1)
    try FileManager.default.removeItem(atPath: path)
    for _ in 0..<3 { #expect(try await signedBy(keys[1], after: .seconds(1))) }
    #expect(key.problem == "\(path): the key cannot be read")
    try write(try keys[2].privateKeyPEM())
    #expect(try await signedBy(keys[2], after: .seconds(1)))
    #expect(key.problem == nil)
    #expect(
      events.withLock { $0.map(\.kind) } == [.renewed, .unusable, .unusable, .renewed])
    #expect(events.withLock { $0.map(\.keyID) } == Array(repeating: Bench.keyID, count: 4))
    #expect(events.withLock { $0[1].detail } == problem)
    await client.shutDown(deadline: clock.uptime)
  }

  @Test("After a 401 the file is checked soon, and the call is repeated once with a fresh token")
  func refusedToken() async throws {
    let keys = try (0..<2).map { _ in try SigningKey.generate(.p256) }
    try write(try keys[0].privateKeyPEM())
    let ring = try AppStoreServerKeys([key()])
    let unauthorized = StubServer.Answer.whole(401, [:], "Unauthenticated")
    let server = try await StubServer([.transaction, unauthorized, .transaction, unauthorized])
    try await Bench.run(server: server, keys: ring) { bench in
      _ = try await bench.transaction()
      try write(try keys[1].privateKeyPEM())
      bench.clock.advance(by: .milliseconds(100))
      _ = try await bench.transaction()
      let tokens = server.requests.map(\.token)
      #expect(tokens[0] == tokens[1])
      #expect(try verifies(tokens[1], keys[0]))
      #expect(try verifies(tokens[2], keys[1]))
      let error = await bench.failure()
      #expect(error?.code == .unauthorized)
      #expect(error?.status == 401)
      #expect(error?.isRetryable == false)
      #expect(error?.description == "unauthorized: HTTP 401: the token was refused")
      // The one and its repetition.
      #expect(server.requests.count == 5)
      #expect(server.requests[3].token != server.requests[4].token)
      #expect(bench.client.statistics.retries == 2)
      #expect(bench.clock.waits.isEmpty)
    }
  }
}
