import Cryptography

extension SigningAuthority {
  /// The authority kept in a directory, made there when the directory is absent or empty, so that
  /// the root's fingerprint stays the same between runs.
  ///
  /// Keys and certificates are PEM files that only their owner can read.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when some of the
  ///   files are missing or do not belong together, ``SimulatorError/Code/cryptography``.
  package static func loadOrCreate(inDirectory path: String) throws(SimulatorError)
    -> SigningAuthority
  {
    let directory = PrivateDirectory(path: path)
    try directory.create()
    var present: [FileName] = []
    for file in FileName.allCases where try directory.hasFile(file.rawValue) {
      present.append(file)
    }
    if present.isEmpty {
      let authority = try generate()
      try authority.save(in: directory)
      return authority
    }
    return try load(from: directory)
  }

  /// The authority that ``loadOrCreate(inDirectory:)`` has put into a directory.
  ///
  /// - Throws: as ``loadOrCreate(inDirectory:)``.
  package static func load(fromDirectory path: String) throws(SimulatorError) -> SigningAuthority {
    try load(from: PrivateDirectory(path: path))
  }

  private static func load(from directory: PrivateDirectory) throws(SimulatorError)
    -> SigningAuthority
  {
    for file in FileName.allCases where try !directory.hasFile(file.rawValue) {
      throw SimulatorError(
        .damagedAuthority,
        "\(directory.path) has no \(file.rawValue); name a directory with a whole authority, "
          + "or an empty one")
    }
    let authority = try SigningAuthority(
      root: try member(.rootCertificate, .rootKey, in: directory),
      intermediate: try member(.intermediateCertificate, .intermediateKey, in: directory),
      leaf: try member(.leafCertificate, .leafKey, in: directory))
    guard try authority.isChained() else {
      throw SimulatorError(
        .damagedAuthority, "the certificates in \(directory.path) do not belong together")
    }
    return authority
  }

  /// PEM of the root certificate, for those who want a file of their trust anchor.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func rootPEM() throws(SimulatorError) -> [UInt8] {
    try SimulatorError.wrapping { () throws(CryptographyError) in
      try CertificatePEM.encode(root.certificate)
    }
  }

  private enum FileName: String, CaseIterable {
    case rootKey = "root.key.pem"
    case intermediateKey = "intermediate.key.pem"
    case leafKey = "leaf.key.pem"
    case rootCertificate = "root.pem"
    case intermediateCertificate = "intermediate.pem"
    case leafCertificate = "leaf.pem"
  }

  private func save(in directory: PrivateDirectory) throws(SimulatorError) {
    let files: [(FileName, FileName, Member)] = [
      (.rootKey, .rootCertificate, root),
      (.intermediateKey, .intermediateCertificate, intermediate),
      (.leafKey, .leafCertificate, leaf),
    ]
    for (keyFile, certificateFile, member) in files {
      let pem = try SimulatorError.wrapping { () throws(CryptographyError) in
        (try member.key.privateKeyPEM(), try CertificatePEM.encode(member.certificate))
      }
      try directory.write(pem.0, toNewFile: keyFile.rawValue)
      try directory.write(pem.1, toNewFile: certificateFile.rawValue)
    }
  }

  private static func member(
    _ certificateFile: FileName, _ keyFile: FileName, in directory: PrivateDirectory
  ) throws(SimulatorError) -> Member {
    let certificatePEM = try directory.read(certificateFile.rawValue)
    let keyPEM = try directory.read(keyFile.rawValue)
    let member: Member
    do throws(CryptographyError) {
      member = Member(
        certificate: try CertificatePEM.decode(certificatePEM),
        key: try SigningKey(privateKeyPEM: keyPEM))
    } catch {
      throw SimulatorError(
        .damagedAuthority,
        "\(certificateFile.rawValue) or \(keyFile.rawValue) in \(directory.path): \(error.message)")
    }
    guard member.key.belongs(toCertificate: member.certificate) else {
      throw SimulatorError(
        .damagedAuthority,
        "\(keyFile.rawValue) in \(directory.path) is not the key of \(certificateFile.rawValue)")
    }
    return member
  }

  private func isChained() throws(SimulatorError) -> Bool {
    try SimulatorError.wrapping { () throws(CryptographyError) in
      let rootCertificate = try Certificate(der: root.certificate)
      let intermediateCertificate = try Certificate(der: intermediate.certificate)
      let leafCertificate = try Certificate(der: leaf.certificate)
      return leafCertificate.isIssued(by: intermediateCertificate)
        && intermediateCertificate.isIssued(by: rootCertificate)
        && leaf.key.curve == .p256
    }
  }
}
