import Cryptography

extension ReceiptAuthority {
  /// The authority kept in a directory beside a ``SigningAuthority``, made there when it has none:
  /// directories from before there were receipts gain it so.
  ///
  /// Keys and certificates are PEM files that only their owner can read.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when some of the
  ///   files are missing or do not belong together, ``SimulatorError/Code/cryptography``.
  package static func loadOrCreate(inDirectory path: String) throws(SimulatorError)
    -> ReceiptAuthority
  {
    let chain = try AuthorityChain.loadOrCreate(in: files(in: path)) {
      () throws(SimulatorError) in try generate().chain
    }
    return try ReceiptAuthority(chain)
  }

  /// PEM of the root certificate, for those who want a file of their trust anchor.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func rootPEM() throws(SimulatorError) -> [UInt8] {
    try root.certificatePEM()
  }

  private static func files(in path: String) -> AuthorityChain<RSASigningKey>.Files {
    AuthorityChain.Files(
      directory: PrivateDirectory(path: path), prefix: "receipt-",
      advice: "remove the other receipt-*.pem files, and new ones are made")
  }
}
