import Cryptography
import EntitlementDomain
import StoreSimulator
import Verification

/// One authority, whose answers OpenSSL's program signs without a server.
struct StatusBench {
  static let rootAddress = "http://root.example.com/"
  static let leafAddress = "http://leaf.example.com/"

  let authority: StatusAuthority
  private let rootProgram: OpenSSLProgram

  init() throws {
    authority = try StatusAuthority(intermediateAddress: Self.rootAddress)
    // For as long as any test looks ahead.
    rootProgram = try OpenSSLProgram(
      issuer: authority.root, index: .init(good: [StatusAuthority.intermediateSerial]),
      options: ["-ndays", "400"])
  }

  func chain(_ serial: UInt64) throws -> CertificateChain {
    try authority.chain(serial: serial, address: Self.leafAddress)
  }

  /// Says of 11 and of 21…29 that they are good, and that 12 is revoked.
  func program(
    index: OpenSSLProgram.Index = .init(good: Set(21...29).union([11]), revoked: [12]),
    options: [String] = ["-nmin", "60"]
  ) throws -> OpenSSLProgram {
    try OpenSSLProgram(issuer: authority.intermediate, index: index, options: options)
  }

  /// The request for a leaf's status.
  func request(_ serial: UInt64) throws -> [UInt8] {
    let certificates = try chain(serial).certificates
    return try OCSPRequest.der(for: certificates[0], issuedBy: certificates[1])
  }

  /// Answers well for the intermediate certificate, and by `leaf` for leaves, which alone are
  /// counted.
  func responder(
    leaf: @escaping @Sendable (_ request: [UInt8]) async throws -> [UInt8]
  ) -> ScriptedResponder {
    ScriptedResponder(counting: Self.leafAddress) { [rootProgram] request, address in
      address == Self.rootAddress ? try rootProgram.answer(to: request) : try await leaf(request)
    }
  }
}
