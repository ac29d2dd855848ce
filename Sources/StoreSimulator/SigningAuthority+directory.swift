import Cryptography

extension SigningAuthority {
  /// The authority kept in a directory, made there when the directory is absent or has none, so that
  /// the root's fingerprint stays the same between runs.
  ///
  /// Keys and certificates are PEM files that only their owner can read.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when some of the
  ///   files are missing or do not belong together, ``SimulatorError/Code/cryptography``.
  package static func loadOrCreate(inDirectory path: String) throws(SimulatorError)
    -> SigningAuthority
  {
    let chain = try AuthorityChain.loadOrCreate(in: files(in: path)) {
      () throws(SimulatorError) in try generate().chain
    }
    return try SigningAuthority(kept: chain, in: path)
  }

  /// The authority that ``loadOrCreate(inDirectory:)`` has put into a directory.
  ///
  /// - Throws: as ``loadOrCreate(inDirectory:)``.
  package static func load(fromDirectory path: String) throws(SimulatorError) -> SigningAuthority {
    try SigningAuthority(kept: try AuthorityChain.load(from: files(in: path)), in: path)
  }

  /// PEM of the root certificate, for those who want a file of their trust anchor.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func rootPEM() throws(SimulatorError) -> [UInt8] {
    try root.certificatePEM()
  }

  private init(kept chain: AuthorityChain<SigningKey>, in path: String) throws(SimulatorError) {
    guard chain.leaf.key.curve == .p256 else {
      throw SimulatorError(.damagedAuthority, "the leaf's key in \(path) is not on P-256")
    }
    try self.init(chain)
  }

  private static func files(in path: String) -> AuthorityChain<SigningKey>.Files {
    AuthorityChain.Files(
      directory: PrivateDirectory(path: path), prefix: "",
      advice: "name a directory with a whole authority, or an empty one")
  }
}
