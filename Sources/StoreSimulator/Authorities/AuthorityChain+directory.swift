import Cryptography

extension AuthorityChain {
  /// The files of a chain in a directory: PEM files that only their owner can read.
  struct Files {
    let directory: PrivateDirectory
    /// The prefix of each file's name. It distinguishes the chains of one directory.
    let prefix: String
    /// The advice in the error message when files are missing.
    let advice: String
  }

  /// Loads the chain, or generates and saves a new one. A lock ensures that only one process
  /// generates it.
  ///
  /// - Throws: as ``loadIfPresent(from:)``.
  static func loadOrCreate(
    in files: Files, generate: () throws(SimulatorError) -> AuthorityChain
  ) throws(SimulatorError) -> AuthorityChain {
    try files.directory.create()
    return try files.directory.withExclusiveLock { () throws(SimulatorError) in
      if let chain = try loadIfPresent(from: files) { return chain }
      let chain = try generate()
      try chain.save(to: files)
      return chain
    }
  }

  /// Loads the chain; nil when none of its files exists.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when some of
  ///   the files are missing or do not belong together, ``SimulatorError/Code/cryptography``.
  private static func loadIfPresent(from files: Files) throws(SimulatorError) -> AuthorityChain? {
    for part in Part.allCases {
      for name in [files.keyFile(part), files.certificateFile(part)]
      where try files.directory.hasFile(name) {
        return try load(from: files)
      }
    }
    return nil
  }

  /// - Throws: as ``loadIfPresent(from:)``, also when none of the files exists.
  static func load(from files: Files) throws(SimulatorError) -> AuthorityChain {
    for part in Part.allCases {
      for name in [files.keyFile(part), files.certificateFile(part)]
      where try !files.directory.hasFile(name) {
        throw SimulatorError(
          .damagedAuthority, "\(files.directory.path) has no \(name); \(files.advice)")
      }
    }
    let chain = AuthorityChain(
      root: try member(.root, in: files), intermediate: try member(.intermediate, in: files),
      leaf: try member(.leaf, in: files))
    guard try chain.isChained() else {
      throw SimulatorError(
        .damagedAuthority, "the certificates in \(files.directory.path) do not belong together")
    }
    return chain
  }

  /// - Throws: ``SimulatorError/Code/file``, also when one of the files exists;
  ///   ``SimulatorError/Code/cryptography``.
  func save(to files: Files) throws(SimulatorError) {
    for (part, member) in [(Part.root, root), (.intermediate, intermediate), (.leaf, leaf)] {
      let pem = try SimulatorError.wrapping { () throws(CryptographyError) in
        (try member.key.privateKeyPEM(), try CertificatePEM.encode(member.certificate))
      }
      try files.directory.write(pem.0, toNewFile: files.keyFile(part))
      try files.directory.write(pem.1, toNewFile: files.certificateFile(part))
    }
  }

  private static func member(
    _ part: Part, in files: Files
  ) throws(SimulatorError) -> AuthorityMember<Key> {
    let keyFile = files.keyFile(part)
    let certificateFile = files.certificateFile(part)
    let certificatePEM = try files.directory.read(certificateFile)
    let keyPEM = try files.directory.read(keyFile)
    let member: AuthorityMember<Key>
    do throws(CryptographyError) {
      member = AuthorityMember(
        certificate: try CertificatePEM.decode(certificatePEM),
        key: try Key(privateKeyPEM: keyPEM))
    } catch {
      throw SimulatorError(
        .damagedAuthority,
        "\(certificateFile) or \(keyFile) in \(files.directory.path): \(error.message)")
    }
    guard member.key.belongs(toCertificate: member.certificate) else {
      throw SimulatorError(
        .damagedAuthority,
        "\(keyFile) in \(files.directory.path) is not the key of \(certificateFile)")
    }
    return member
  }

  fileprivate enum Part: String, CaseIterable {
    case root
    case intermediate
    case leaf
  }
}

extension AuthorityChain.Files {
  fileprivate func keyFile(_ part: AuthorityChain.Part) -> String {
    "\(prefix)\(part.rawValue).key.pem"
  }

  fileprivate func certificateFile(_ part: AuthorityChain.Part) -> String {
    "\(prefix)\(part.rawValue).pem"
  }
}
