import Testing

@testable import PostgresStore

@Suite("Connection strings")
struct PostgresConnectionStringTests {
  @Test(
    "Both forms are parsed, and shown without a password",
    arguments: [
      ("postgresql://u:secret@h:5433/d", "postgresql://u@h:5433/d"),
      ("postgres://u:s%3Ccret@a:1,b:2/d?sslmode=require", "postgresql://u@a:1,b:2/d"),
      ("host=a,b port=5432 dbname=d user=u password='se cret'", "postgresql://u@a:5432,b:5432/d"),
      ("postgresql://u@/d?host=/run/pg&password=secret", "postgresql://u@/run/pg/d"),
      ("dbname=d", "postgresql:///d"), ("", "postgresql://"),
    ])
  func descriptions(text: String, shown: String) throws {
    let string = try PostgresConnectionString(text)
    #expect("\(string)" == shown)
  }

  @Test(
    "A malformed string is refused, and nothing of it is shown",
    arguments: [
      "postgresql://u:sec%zzret@h/d", "host=h password=se cret", "postgresql://u:secret@[h/d",
      "secret", "host=h pasword=secret", "password='secret", "postgresql://h/d?secret=x&secret",
    ])
  func malformed(text: String) {
    let failure = #expect(throws: PostgresFailure.self) { try PostgresConnectionString(text) }
    #expect(failure?.kind == .cannotConnect)
    #expect(failure?.message.contains("cret") == false)
  }

  @Test("Defaults do not override the string")
  func defaults() throws {
    var string = try PostgresConnectionString("host=h target_session_attrs=any options='-c a=b'")
    string.setDefault("target_session_attrs", "read-write")
    string.setDefault("application_name", "x")
    string.prependServerOptions("-c c=d")
    #expect(string["target_session_attrs"] == "any")
    #expect(string["application_name"] == "x")
    #expect(string["options"] == "-c c=d -c a=b")
    var bare = try PostgresConnectionString("host=h")
    bare.prependServerOptions("-c c=d")
    #expect(bare["options"] == "-c c=d")
  }

  @Test("Secrets are masked in messages of libpq")
  func scrubbing() throws {
    let string = try PostgresConnectionString("host=h password=hush")
    #expect(string.scrub("hush: failed with hush") == "***: failed with ***")
    #expect(try PostgresConnectionString("host=h").scrub("as it was") == "as it was")
  }
}
