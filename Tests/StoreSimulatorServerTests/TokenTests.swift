import Cryptography
import EntitlementDomain
import StoreSimulator
import StoreSimulatorServer
import TestSupport
import Testing

@Suite("Authentication and rate limits", .timeLimit(.minutes(2)))
struct TokenTests {
  @Test func `tokens are judged as strictly and as leniently as by Apple`() async throws {
    let bench = try await StoreBench()
    let now = bench.clock.now.rawValue / 1_000
    let stranger = try SigningKey.generate(.p256)
    let claims = try bench.token(["exp": now + 200]).split(separator: ".")[1]
    var altered = try bench.token().split(separator: ".")
    altered[1] = claims
    let rows: [(String, Int, String)] = [
      ("altered claims", 401, altered.joined(separator: ".")),
      ("for ever, issued before 1970", 401, try bench.token(["iat": -1, "exp": Int64.max])),
      ("for ever, without iat", 401, try bench.token(["iat": nil, "exp": Int64.max])),
      ("issued before all time", 401, try bench.token(["iat": Int64.min])),
      ("ended before all time", 401, try bench.token(["exp": Int64.min])),
      ("as documented", 404, try bench.token()),
      ("without iat", 404, try bench.token(["iat": nil])),
      ("with more claims", 404, try bench.token(["nonce": "x", "scope": ["GET /"]])),
      ("for an hour", 404, try bench.token(["exp": now + 3_600])),
      ("without typ", 404, try bench.token(header: ["typ": nil])),
      ("for more than an hour", 401, try bench.token(["exp": now + 3_601])),
      (
        "without iat, for more than an hour", 401,
        try bench.token(["iat": nil, "exp": now + 3_700])
      ),
      ("expired", 401, try bench.token(["iat": now - 600, "exp": now])),
      ("issued in the future", 401, try bench.token(["iat": now + 5])),
      ("without exp", 401, try bench.token(["exp": nil])),
      ("another audience", 401, try bench.token(["aud": "appstoreconnect-v2"])),
      ("a list of audiences", 401, try bench.token(["aud": ["appstoreconnect-v1"]])),
      ("another app", 401, try bench.token(["bid": "com.example.other"])),
      ("without app", 401, try bench.token(["bid": nil])),
      ("another issuer", 401, try bench.token(["iss": "x"])),
      ("another key id", 401, try bench.token(header: ["kid": "ABCDEFGHIJ"])),
      ("another algorithm", 401, try bench.token(header: ["alg": "none"])),
      ("another key", 401, try bench.token(key: stranger)),
      ("no token", 401, "x"), ("too long", 401, String(repeating: "a", count: 9_000)),
    ]
    for (name, status, token) in rows {
      let answer = try bench.send("GET", "/inApps/v1/transactions/1", token: token)
      #expect(answer.status == status, "\(name)")
      if status == 401 {
        #expect(answer.type == "text/plain", "\(name)")
        #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("Unauthenticated"))
      }
    }
    await bench.stop()
  }

  @Test func `an expired token stays expired when virtual time stands still`() async throws {
    let bench = try await StoreBench()
    let token = try bench.token()
    bench.clock.advance(by: 301_000)
    #expect(try bench.send("GET", "/inApps/v1/transactions/1", token: token).status == 401)
    #expect(try bench.get("v1/transactions/1").status == 404)
    await bench.stop()
  }

  @Test func `rates are enforced by the hour, for each endpoint`() async throws {
    // 50 a second, a tenth of it in the Sandbox, and a six-thousandth of that: three an hour.
    let bench = try await StoreBench(.sandbox, rateFactor: 1 / 6_000)
    for _ in 0..<3 { #expect(try bench.get("v1/transactions/1").errorCode == 4_040_010) }
    let limited = try bench.get("v1/transactions/1")
    #expect(limited.status == 429 && limited.errorCode == 4_290_000)
    // Half an hour later, in milliseconds since 1970.
    let next = bench.clock.now.advanced(by: 1_800_000)
    #expect(limited.retryAfter == "\(next)")
    #expect(try bench.get("v2/history/1").errorCode == 4_040_010)
    bench.clock.advance(by: 1_799_999)
    #expect(try bench.get("v1/transactions/1").status == 429)
    bench.clock.advance(by: 1)
    #expect(try bench.get("v1/transactions/1").errorCode == 4_040_010)
    await bench.stop()
  }
}
