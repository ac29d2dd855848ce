import Cryptography
import Framing
import Glibc
import NIOCore
import NIOSSL
import Synchronization

/// How a client trusts servers with TLS, and what it shows them: for addresses that begin with
/// `tls:` or `mtls:`. TLS 1.3 only.
///
/// The files are read when a connection is opened, and again when one has changed: a client that
/// runs for long follows certificates that are renewed.
public final class ClientTLS: Sendable {
  /// A PEM file of the authorities that may sign the server's certificate; nil: those that the
  /// system trusts.
  public let authorityFile: String?
  /// A PEM file of the client's certificate, with those of authorities below the root.
  public let certificateFile: String?
  /// A PEM file of the certificate's key, without a password. Other users must not be able to read
  /// it.
  public let keyFile: String?
  /// The name in the server's certificate, if it is another one than in the address.
  public let serverName: String?

  private let cached = Mutex<(versions: [FileVersion?], context: NIOSSLContext)?>(nil)

  /// Describes how to connect. The files are read later.
  public init(
    authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil,
    serverName: String? = nil
  ) {
    self.authorityFile = authorityFile
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.serverName = serverName
  }

  /// Reads the files.
  ///
  /// - Throws: ``RPCClientError`` with `unreachable` and the file that cannot be used.
  public func check() throws(RPCClientError) {
    _ = try context()
  }

  /// The name or address that the server's certificate must have, and the name that the server is
  /// told (RFC 6066 section 3): nil for an address.
  func expectedHost(_ host: String) -> (certificate: String, told: String?) {
    let host = serverName ?? host
    return (host, Self.isAddress(host) ? nil : host)
  }

  func context() throws(RPCClientError) -> NIOSSLContext {
    let versions = [authorityFile, certificateFile, keyFile].map { $0.flatMap(FileVersion.init) }
    if let cached = cached.withLock(\.self), cached.versions == versions { return cached.context }
    let context = try makeContext()
    cached.withLock { $0 = (versions, context) }
    return context
  }

  private func makeContext() throws(RPCClientError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv13
    // ClientHandshakeHandler compares the name, more strictly.
    configuration.certificateVerification = .noHostnameVerification
    configuration.shutdownTimeout = TimeAmount(RPCLimits.tlsClosingTime)
    if let authorityFile {
      configuration.trustRoots = .certificates(try Self.certificates(in: authorityFile))
    }
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw RPCClientError(.unreachable, "a certificate and a key are used together only")
    }
    if let certificateFile, let keyFile {
      configuration.certificateChain = try Self.certificates(in: certificateFile).map {
        .certificate($0)
      }
      configuration.privateKey = .privateKey(try Self.key(in: keyFile))
    }
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw RPCClientError(
        .unreachable,
        certificateFile.map { "\($0): the certificate and the key do not belong together" }
          ?? "the authorities that the system trusts cannot be read")
    }
  }

  private static func certificates(in path: String) throws(RPCClientError) -> [NIOSSLCertificate] {
    let found: [NIOSSLCertificate]
    do {
      found = try NIOSSLCertificate.fromPEMFile(path)
    } catch {
      throw RPCClientError(.unreachable, "\(path): not a PEM file of certificates")
    }
    guard !found.isEmpty else {
      throw RPCClientError(.unreachable, "\(path): no certificate in the file")
    }
    return found
  }

  private static func key(in path: String) throws(RPCClientError) -> NIOSSLPrivateKey {
    var status = stat()
    if stat(path, &status) == 0, status.isReadByOthers {
      throw RPCClientError(.unreachable, "\(path): other users may read the key (chmod 600)")
    }
    do {
      return try NIOSSLPrivateKey(file: path, format: .pem)
    } catch {
      throw RPCClientError(
        .unreachable, "\(path): not a PEM file with a private key without a password")
    }
  }

  private static func isAddress(_ name: String) -> Bool {
    (try? SocketAddress(ipAddress: name, port: 0)) != nil
  }
}
