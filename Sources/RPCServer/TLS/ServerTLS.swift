package import Cryptography
import Framing
import NIOCore
import NIOSSL
import Synchronization

/// The certificate of a server, its key, and the authorities of its clients. For all TLS listeners
/// of a server. New connections take what ``replace(with:)`` gave last; others keep what they have.
///
/// Each replacement makes new contexts, so that no session ticket outlives the authorities that it
/// was issued under: the keys of tickets belong to a context.
package final class ServerTLS: Sendable {
  /// The contents of the files.
  package struct Files: Hashable, Sendable {
    /// The certificate of the server, and those of the authorities below the root, in PEM.
    package var certificate: [UInt8]
    /// In PEM, not encrypted.
    package var key: [UInt8]
    /// The authorities of clients, in PEM; nil: clients are not asked for a certificate.
    package var clientAuthorities: [UInt8]?

    package init(certificate: [UInt8], key: [UInt8], clientAuthorities: [UInt8]?) {
      self.certificate = certificate
      self.key = key
      self.clientAuthorities = clientAuthorities
    }
  }

  /// Why files cannot be used. Has nothing of their contents.
  package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  private struct State {
    var contexts: Contexts
    var certificate: Certificate
  }

  private let state: Mutex<State>

  /// - Throws: ``Fault``.
  package init(_ files: Files) throws(Fault) {
    state = Mutex(try Self.state(of: files))
  }

  /// Takes other files for new connections.
  ///
  /// - Throws: ``Fault``; then the former files stay in force.
  package func replace(with files: Files) throws(Fault) {
    let new = try Self.state(of: files)
    state.withLock { $0 = new }
  }

  /// The certificate in force.
  package var certificate: Certificate { state.withLock(\.certificate) }

  /// Whether a listener may require certificates of clients.
  package var hasClientAuthorities: Bool { state.withLock { $0.contexts.required != nil } }

  /// - Parameter requiresCertificate: Whether a client without a certificate is refused.
  func context(requiresCertificate: Bool) -> NIOSSLContext? {
    state.withLock { requiresCertificate ? $0.contexts.required : $0.contexts.optional }
  }

  /// For clients of HTTP, some of which do not know TLS 1.3. A client certificate is optional.
  var contextForHTTP: NIOSSLContext? { state.withLock(\.contexts.http) }

  /// A certificate is optional for most listeners and required for others. A ticket of one kind is
  /// not valid for the other.
  private struct Contexts {
    let optional: NIOSSLContext
    /// As `optional`, and TLS 1.2 is allowed.
    let http: NIOSSLContext
    /// Nil without authorities of clients.
    let required: NIOSSLContext?
  }

  /// Of TLS 1.2: with forward secrecy and authenticated encryption. Those with CBC authenticate what they
  /// encrypt too late (RFC 9325 section 4.2). TLS 1.3 has no others.
  private static let suites: [NIOTLSCipher] = [
    .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
  ]

  private static func state(of files: Files) throws(Fault) -> State {
    let certificates: [Certificate]
    do {
      certificates = try Certificate.certificates(inFile: files.certificate)
    } catch {
      throw Fault(description: "the certificate: \(error)")
    }
    let chain: [NIOSSLCertificateSource]
    do {
      chain = try NIOSSLCertificate.fromPEMBytes(files.certificate).map { .certificate($0) }
    } catch {
      throw Fault(description: "the certificate: not a PEM file of certificates")
    }
    let key: NIOSSLPrivateKey
    do {
      key = try NIOSSLPrivateKey(bytes: files.key, format: .pem)
    } catch {
      throw Fault(description: "the key: not a PEM file with a private key without a password")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv13
    configuration.shutdownTimeout = TimeAmount(RPCLimits.tlsClosingTime)
    let authorities = try files.clientAuthorities.map { bytes throws(Fault) in
      try Self.authorities(in: bytes)
    }
    if let authorities {
      configuration.trustRoots = .certificates(authorities)
      configuration.certificateVerification = .optionalVerification
    }
    let optional = try context(configuration)
    var older = configuration
    older.minimumTLSVersion = .tlsv12
    older.cipherSuiteValues = suites
    let http = try context(older)
    var required: NIOSSLContext?
    if authorities != nil {
      // The name of a client is not that of its host: it is compared with the names of callers.
      configuration.certificateVerification = .noHostnameVerification
      required = try context(configuration)
    }
    return State(
      contexts: Contexts(optional: optional, http: http, required: required),
      certificate: certificates[0])
  }

  private static func authorities(in bytes: [UInt8]) throws(Fault) -> [NIOSSLCertificate] {
    do {
      // Checked by the stricter reader first: the other one skips damaged blocks.
      _ = try Certificate.certificates(inFile: bytes)
      return try NIOSSLCertificate.fromPEMBytes(bytes)
    } catch {
      throw Fault(description: "the authorities of clients: not a PEM file of certificates")
    }
  }

  private static func context(_ configuration: TLSConfiguration) throws(Fault) -> NIOSSLContext {
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      // With a certificate and a key that can be read, this is the only usual cause.
      throw Fault(description: "the certificate and the key do not belong together")
    }
  }
}
