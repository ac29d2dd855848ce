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
    for part in Part.allCases where try files.member(part).existInPart() {
      return try load(from: files)
    }
    return nil
  }

  /// - Throws: as ``loadIfPresent(from:)``, also when none of the files exists.
  static func load(from files: Files) throws(SimulatorError) -> AuthorityChain {
    for part in Part.allCases { try files.member(part).requireAll() }
    let chain = AuthorityChain(
      root: try AuthorityMember(from: files.member(.root)),
      intermediate: try AuthorityMember(from: files.member(.intermediate)),
      leaf: try AuthorityMember(from: files.member(.leaf)))
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
      try member.save(to: files.member(part))
    }
  }

  fileprivate enum Part: String, CaseIterable {
    case root
    case intermediate
    case leaf
  }
}

extension AuthorityChain.Files {
  fileprivate func member(_ part: AuthorityChain.Part) -> AuthorityMember<Key>.Files {
    AuthorityMember.Files(directory: directory, name: "\(prefix)\(part.rawValue)", advice: advice)
  }
}

extension AuthorityMember {
  /// The files of a certificate and its key in a directory.
  struct Files {
    let directory: PrivateDirectory
    /// The file names without their suffixes.
    let name: String
    /// The advice in the error message when one of the files is missing.
    let advice: String

    fileprivate var keyFile: String { "\(name).key.pem" }
    fileprivate var certificateFile: String { "\(name).pem" }

    /// Whether at least one of the files exists.
    func existInPart() throws(SimulatorError) -> Bool {
      if try directory.hasFile(keyFile) { return true }
      return try directory.hasFile(certificateFile)
    }

    /// - Throws: ``SimulatorError/Code/damagedAuthority`` when one of the files is missing.
    fileprivate func requireAll() throws(SimulatorError) {
      for file in [keyFile, certificateFile] where try !directory.hasFile(file) {
        throw SimulatorError(.damagedAuthority, "\(directory.path) has no \(file); \(advice)")
      }
    }
  }

  /// - Throws: ``SimulatorError/Code/file``; ``SimulatorError/Code/damagedAuthority`` when one of
  ///   the files is missing, or they do not belong together.
  init(from files: Files) throws(SimulatorError) {
    try files.requireAll()
    let certificatePEM = try files.directory.read(files.certificateFile)
    let keyPEM = try files.directory.read(files.keyFile)
    do throws(CryptographyError) {
      self.init(
        certificate: try CertificatePEM.decode(certificatePEM),
        key: try Key(privateKeyPEM: keyPEM))
    } catch {
      throw SimulatorError(
        .damagedAuthority,
        "\(files.certificateFile) or \(files.keyFile) in \(files.directory.path): \(error.message)")
    }
    guard key.belongs(toCertificate: certificate) else {
      throw SimulatorError(
        .damagedAuthority,
        "\(files.keyFile) in \(files.directory.path) is not the key of \(files.certificateFile)")
    }
  }

  /// - Throws: ``SimulatorError/Code/file``, also when one of the files exists;
  ///   ``SimulatorError/Code/cryptography``.
  func save(to files: Files) throws(SimulatorError) {
    let pem = try SimulatorError.wrapping { () throws(CryptographyError) in
      (try key.privateKeyPEM(), try CertificatePEM.encode(certificate))
    }
    try files.directory.write(pem.0, toNewFile: files.keyFile)
    try files.directory.write(pem.1, toNewFile: files.certificateFile)
  }
}
