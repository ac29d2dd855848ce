import Foundation
import TestSupport
import Testing

@testable import PostgresBulkLoader

@Suite("The password of a database")
struct PostgresURITests {
  @Test(
    "is taken out of the URI, wherever it is",
    arguments: [
      ("postgresql://me:secret@host/db", "postgresql://me@host/db", "secret"),
      ("postgres://me:se%40cr%3Aet@host", "postgres://me@host", "se@cr:et"),
      ("postgresql://:secret@/db", "postgresql://@/db", "secret"),
      ("postgresql://me:a:b@h1:1,h2:2/db?x=1", "postgresql://me@h1:1,h2:2/db?x=1", "a:b"),
      ("postgresql:///db?host=/run&password=s%26t", "postgresql:///db?host=/run", "s&t"),
      ("postgresql:///db?password=secret", "postgresql:///db", "secret"),
      ("postgresql://me:one@host/db?password=two&a=b", "postgresql://me@host/db?a=b", "two"),
    ])
  func password(uri: String, text: String, password: String) {
    let found = PostgresURI(uri)
    #expect(found.text == text)
    #expect(found.password == password)
  }

  @Test(
    "is nil for a URI without one, which stays unchanged",
    arguments: [
      "postgresql://", "postgresql:///db", "postgresql://me@host/db",
      "postgresql://host:5432/a@b:c",
      "postgresql:///db?host=/run/user:1@x&port=5", "postgresql://[::1]:5432/db?passwordless=1",
    ])
  func none(uri: String) {
    #expect(PostgresURI(uri).text == uri)
    #expect(PostgresURI(uri).password == nil)
  }

  @Test("is passed to psql in its environment")
  func environment() throws {
    let folder = try TemporaryFolder()
    let program = try folder.program("echo \"$PGPASSWORD:$*\"")
    let answer = try Psql(uri: "postgresql://me:secret@host/db", program: program).run("")
    #expect(answer.hasPrefix("secret:"))
    #expect(answer.hasSuffix(" postgresql://me@host/db\n"))
    #expect(!answer.dropFirst("secret:".count).contains("secret"))
  }
}
