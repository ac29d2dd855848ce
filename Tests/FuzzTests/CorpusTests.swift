import Foundation
import Framing
import NIOCore
import StoreSimulator
import TestSupport
import Testing
import Verification
import Wire

@testable import FuzzTargets

/// Seeds that are refused at once would not help a fuzzer.
@Suite("Corpus of the fuzz targets")
struct CorpusTests {
  @Test("Each seed has a unique name that is valid as a file name", arguments: FuzzTarget.allCases)
  func names(target: FuzzTarget) {
    let names = target.seeds.map(\.name)
    #expect(!names.isEmpty)
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { !$0.isEmpty && !$0.contains("/") })
  }

  @Test("The simulator's signed payloads are accepted, with those in notifications")
  func signedPayloads() throws {
    let signer = FuzzSigner.shared
    var kinds: [SignedKind: Int] = [:]
    for seed in FuzzTarget.jws.seeds {
      if seed.name.hasPrefix("header-") { continue }
      if seed.name.hasPrefix("short-") {
        #expect(throws: Never.self, "\(seed)") { try InspectedPayload(seed.bytes) }
        continue
      }
      let jws = signer.complete(seed.bytes).jws
      let payload = try signer.verifier.verify(jws, policy: signer.policy, now: FuzzSigner.now)
      kinds[payload.kind, default: 0] += 1
      guard case .notification(let notification) = payload.content else { continue }
      let lines = seed.bytes.split(separator: UInt8(ascii: "\n")).count
      let inner = [notification.transaction, notification.renewalInfo, notification.appTransaction]
      #expect(inner.compactMap { $0 }.count == lines - 1, "\(seed)")
    }
    #expect(Set(kinds.keys) == Set(SignedKind.allCases))
  }

  @Test("Payloads with wrong headers are refused for their header")
  func wrongHeaders() throws {
    let signer = FuzzSigner.shared
    let seeds = FuzzTarget.jws.seeds.filter { $0.name.hasPrefix("header-") }
    #expect(seeds.count == 6)
    for seed in seeds {
      let refusal = #expect(throws: Refusal.self) {
        try signer.verifier.verify(seed.bytes, policy: signer.lenientPolicy, now: FuzzSigner.now)
      }
      let verdicts: Set<Verdict> = [.unsupportedAlgorithm, .invalidCertificate, .untrustedChain]
      #expect(refusal.map { verdicts.contains($0.verdict) } == true, "\(seed)")
    }
  }

  @Test("Every life cycle has receipts and archived responses that are accepted")
  func receipts() throws {
    let signer = FuzzReceiptSigner.shared
    let seeds = FuzzTarget.der.seeds
    for lifeCycle in LifeCycle.allCases {
      for form in ["content", "archive"] {
        let name = "\(lifeCycle.rawValue)-\(form)"
        let seed = try #require(seeds.first { $0.name == name })
        if form == "archive" {
          #expect(throws: Never.self, "\(seed)") { try ArchivedResponse(seed.bytes) }
        } else {
          let receipt = try signer.authority.sign(content: seed.bytes)
          #expect(throws: Never.self, "\(seed)") { try signer.outcome(of: receipt).get() }
        }
      }
    }
    for seed in seeds where seed.name.hasPrefix("signed-") {
      #expect(throws: Never.self, "\(seed)") { try signer.outcome(of: seed.bytes).get() }
    }
    #expect(throws: Never.self) { try signer.outcome(of: signer.genuine).get() }
  }

  @Test("Conversations start calls, and answer those of a client")
  func conversations() {
    for seed in FuzzTarget.frames.seeds where seed.name != "partial" {
      var decoder = FrameDecoder()
      decoder.append(ByteBuffer(bytes: seed.bytes.dropFirst()))
      #expect(decoder.next() != nil, "\(seed)")
    }
  }

  @Test("Every request and response of a method is fuzzed, with a seed that can be decoded")
  func messages() throws {
    let names = MessageProbe.names
    #expect(try Set(names) == Self.namesInProtos())
    let seeds = FuzzTarget.messages.seeds
    for (index, name) in names.enumerated() {
      #expect(seeds.contains { $0.bytes.first == UInt8(index) }, "\(name) has no seed")
    }
    for seed in seeds {
      let index = try #require(seed.bytes.first)
      #expect(MessageProbe.canRead(seed.bytes), "\(seed) of \(names[Int(index)])")
    }
  }

  @Test("Every message with a seed has a JSON seed that can be decoded")
  func messagesAsJSON() {
    let seeds = FuzzTarget.messageJSON.seeds
    #expect(seeds.map(\.name) == FuzzTarget.messages.seeds.map(\.name))
    for seed in seeds { #expect(MessageJSONProbe.canRead(seed.bytes), "\(seed)") }
  }

  @Test("Dictionaries quote special characters of libFuzzer")
  func dictionary() {
    let dictionary = FuzzDictionary(texts: ["\"a\\b\"", "é"], bytes: [[0, 0x7F, 0xFF]])
    #expect(
      dictionary.file == "\"\\\"a\\\\b\\\"\"\n\"\\xc3\\xa9\"\n\"\\x00\\x7f\\xff\"\n")
  }

  /// The types between the parentheses of every `rpc`, in each file of `Protos/`.
  private static func namesInProtos() throws -> Set<String> {
    // A checkout of the package may have symbolic links to Sources and Tests only.
    let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Protos")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var names: Set<String> = []
    for case let file as URL in try #require(files) where file.pathExtension == "proto" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for method in text.components(separatedBy: "\n  rpc ").dropFirst() {
        for part in method.prefix(while: { $0 != ";" && $0 != "{" }).split(separator: "(")
          .dropFirst()
        {
          let words = part.prefix { $0 != ")" }.split(separator: " ")
          names.insert(String(try #require(words.last)))
        }
      }
    }
    return names
  }
}
