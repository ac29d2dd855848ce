import AccessControl
import Cryptography
import EntitlementDomain
import TestSupport
import Testing
import Wire

/// What a person may do to a file of credentials by mistake.
@Suite("Damaged files of credentials")
struct CredentialsFuzzTests {
  @Test("A file that ends anywhere is read, or refused with an issue")
  func truncated() {
    let bytes = Array(CredentialsFileTests.valid.utf8)
    for length in 0..<bytes.count {
      _ = issues(of: String(decoding: bytes[..<length], as: UTF8.self))
    }
  }

  @Test("Random damage is read, or refused with an issue")
  func random() {
    var generator = SeededRandom(for: "damaged credentials")
    let valid = Array(CredentialsFileTests.valid.utf8)
    let bytes = Array(" \n:-[]{},\"'#&*!|>%@`0aZ\u{1}\0".utf8) + [0x80, 0xc3, 0xff]
    for _ in 0..<2_000 {
      var text = valid
      for _ in 0...Int.random(in: 0..<4, using: &generator) {
        let place = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: text[place] = bytes.randomElement(using: &generator)!
        case 1: text.insert(bytes.randomElement(using: &generator)!, at: place)
        default:
          let end = min(text.count, place + Int.random(in: 1...80, using: &generator))
          text.removeSubrange(place..<end)
        }
        if text.isEmpty { break }
      }
      _ = issues(of: String(decoding: text, as: UTF8.self), seed: generator.seed)
    }
    for _ in 0..<500 {
      let text = String(decoding: generator.bytes(upTo: 200), as: UTF8.self)
      _ = issues(of: text, seed: generator.seed)
    }
  }

  @Test("No issue repeats a token or a digest, wherever in the file it was put")
  func secrets() throws {
    var generator = SeededRandom(for: "secrets in credentials")
    let valid = CredentialsFileTests.valid
    // Every word of the file, with quotes and brackets left where they are.
    let words = valid.matches(of: /[0-9A-Za-z_.@-]+/).map(\.range)
    var refused = 0
    for word in words {
      let token = AccessToken()
      let digest = try token.digest.hexadecimal
      for secret in [token.text, digest, "Bearer-\(token.text)", "\(digest)\(digest)"] {
        let text = valid[..<word.lowerBound] + secret + valid[word.upperBound...]
        let issues = issues(of: String(text), seed: generator.seed)
        refused += issues.contains { $0.severity == .error } ? 1 : 0
        let start = Int.random(in: 0..<20, using: &generator)
        for issue in issues {
          let shown = issue.field + " " + issue.message
          #expect(!shown.contains(token.text.dropFirst(14 + start).prefix(16)), "\(shown)")
          #expect(!shown.contains(digest.dropFirst(start).prefix(32)), "\(shown)")
        }
      }
    }
    #expect(refused > words.count)
  }

  /// Expects that the file is valid, or has issues with places in it.
  private func issues(of text: String, seed: UInt64? = nil) -> [FileIssue] {
    do {
      return try CredentialsFileTests.parse(text).warnings
    } catch {
      let hasErrors = error.issues.contains { $0.severity == .error }
      #expect(hasErrors, "seed \(seed ?? 0)")
      for issue in error.issues {
        #expect(issue.line > 0 && issue.column > 0, "\(issue), seed \(seed ?? 0)")
        #expect(!issue.message.isEmpty)
      }
      return error.issues
    }
  }
}
