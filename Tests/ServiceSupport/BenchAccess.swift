package import AccessControl
import Cryptography
package import EntitlementDomain
package import EntitlementService
import Foundation
import Synchronization

/// The credentials of a ``ServiceBench``, in a file that the test writes.
package final class BenchAccess: Sendable {
  /// A caller of the file, with a token.
  package struct Member: Sendable {
    package let name: String
    package var fields: String
    package let token = AccessToken()
    package var expires: String

    package init(name: String, fields: String, expires: String = "never") {
      self.name = name
      self.fields = fields
      self.expires = expires
    }

    package var metadata: [(key: String, value: String)] {
      [(key: "authorization", value: "Bearer \(token.text)")]
    }
  }

  package let holder: CredentialsHolder
  package let source: CredentialsSource
  package let admin = Member(name: "the-admin", fields: "roles: [admin]")
  private let shared: SharedText

  package var adminMetadata: [(key: String, value: String)] { admin.metadata }

  /// - Parameter members: beside the administrator.
  package init(
    _ members: [Member], extra: String = "",
    clock: @escaping @Sendable () -> Milliseconds = ServiceClock.system.now
  ) throws {
    let shared = SharedText(Self.file([admin] + members, extra))
    source = CredentialsSource(user: { _ in nil }) { shared.bytes }
    self.shared = shared
    let reading = try source.read()
    holder = CredentialsHolder(try reading.contents.get(), digest: reading.digest, clock: clock)
  }

  package func write(_ members: [Member], extra: String = "") {
    shared.set(Self.file([admin] + members, extra))
  }

  package func write(text: String) { shared.set(text) }

  private final class SharedText: Sendable {
    private let text: Mutex<String>

    init(_ text: String) {
      self.text = Mutex(text)
    }

    var bytes: [UInt8] { Array(text.withLock { $0 }.utf8) }

    func set(_ new: String) { text.withLock { $0 = new } }
  }

  private static func file(_ members: [Member], _ extra: String) -> String {
    var lines = ["version: 1", "callers:"]
    for member in members {
      let digest = (try? member.token.digest.hexadecimal) ?? ""
      lines.append("  - name: \(member.name)")
      lines += member.fields.split(separator: "\n").map { "    \($0)" }
      lines.append(
        "    tokens: [{id: \(member.token.id), sha256: \"\(digest)\", expires: \(member.expires)}]")
    }
    return lines.joined(separator: "\n") + "\n" + extra
  }
}
