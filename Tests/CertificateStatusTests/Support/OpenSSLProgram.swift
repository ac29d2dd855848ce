import Cryptography
import Foundation
import StoreSimulator
import TestSupport

/// The `ocsp` command of OpenSSL's program: a responder that is not ours.
struct OpenSSLProgram {
  /// What an authority knows of its certificates, by serial number. Those not named are unknown.
  struct Index {
    var good: Set<UInt64> = []
    /// Revoked on 2024-01-01, for the compromise of their keys.
    var revoked: Set<UInt64> = []

    /// As `openssl ca` keeps it.
    fileprivate var text: String {
      func line(_ kind: String, _ revocation: String, _ serial: UInt64) -> String {
        var digits = String(serial, radix: 16, uppercase: true)
        if !digits.count.isMultiple(of: 2) { digits = "0" + digits }
        return "\(kind)\t991231235959Z\t\(revocation)\t\(digits)\tunknown\t/CN=\(serial)\n"
      }
      return good.sorted().map { line("V", "", $0) }.joined()
        + revoked.sorted().map { line("R", "240101000000Z,keyCompromise", $0) }.joined()
    }
  }

  let folder: TemporaryFolder
  /// The program and its arguments.
  private let command: [String]

  /// - Parameters:
  ///   - issuer: whose certificates are asked for.
  ///   - signer: who signs the answers; nil: the issuer.
  ///   - options: of `openssl ocsp`; by default answers say that there are newer ones in an hour.
  init(
    issuer: SigningAuthority.Member, signer: SigningAuthority.Member? = nil, index: Index,
    options: [String] = ["-nmin", "60"]
  ) throws {
    folder = try TemporaryFolder()
    let signer = signer ?? issuer
    guard let path = OpenSSL.path else { throw TestFailure("no openssl program") }
    command =
      [
        path, "ocsp", "-index", try folder.write(index.text, to: "index.txt"),
        "-CA", try Self.write(CertificatePEM.encode(issuer.certificate), folder, "issuer.pem"),
        "-rsigner",
        try Self.write(CertificatePEM.encode(signer.certificate), folder, "signer.pem"),
        "-rkey", try Self.write(signer.key.privateKeyPEM(), folder, "signer.key"),
      ] + options
  }

  private static func write(
    _ contents: [UInt8], _ folder: TemporaryFolder, _ name: String
  ) throws -> String {
    try folder.write(String(decoding: contents, as: UTF8.self), to: name)
  }

  /// Answers one request without a server. May be called on many threads.
  func answer(to request: [UInt8]) throws -> [UInt8] {
    let name = "\(UInt64.random(in: 0 ... .max))"
    try Data(request).write(to: URL(filePath: folder.file("\(name).request")))
    return try answer(
      ["-reqin", folder.file("\(name).request"), "-respout", folder.file("\(name).response")],
      at: folder.file("\(name).response"))
  }

  /// Answers a request for several certificates of the issuer at once, in their order.
  func answer(for certificates: [[UInt8]]) throws -> [UInt8] {
    var names: [String] = []
    for (index, certificate) in certificates.enumerated() {
      names += [
        "-cert", try Self.write(CertificatePEM.encode(certificate), folder, "\(index).pem"),
      ]
    }
    // The program makes a request of its own for them, and answers it.
    return try answer(
      ["-issuer", folder.file("issuer.pem")] + names + ["-respout", folder.file("all.response")],
      at: folder.file("all.response"))
  }

  private func answer(_ more: [String], at path: String) throws -> [UInt8] {
    do {
      let program = try ChildProgram(command + more)
      while program.read() != nil {}
    }
    return [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  /// Starts a server.
  func serve() throws -> OpenSSLResponder {
    // Port 0 has the system choose one, which the program prints. It cannot be told to listen on
    // the loopback addresses alone. It ends with the shell's stdin, so that it outlives neither its
    // test nor a crash of the tests.
    let script = #""$@" </dev/null & read -r _; kill -KILL $!"#
    return try OpenSSLResponder(
      ChildProgram(["/bin/sh", "-c", script, "sh"] + command + ["-port", "0"]), folder: folder)
  }
}

/// A responder that runs until it is released.
final class OpenSSLResponder: Sendable {
  let address: String
  private let program: ChildProgram
  private let folder: TemporaryFolder

  fileprivate init(_ program: ChildProgram, folder: TemporaryFolder) throws {
    self.folder = folder
    self.program = program
    var text = ""
    // One line such as `ACCEPT [::]:34375 PID=4711`, once it listens.
    while !text.contains("PID=") {
      guard let more = program.read() else { throw TestFailure("openssl ocsp ended: \(text)") }
      text += more
    }
    guard let port = text.firstMatch(of: /ACCEPT .*:([0-9]+) PID=/)?.output.1 else {
      throw TestFailure("openssl ocsp names no port: \(text)")
    }
    address = "http://127.0.0.1:\(port)/"
  }
}

struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
