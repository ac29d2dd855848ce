import OutboundHTTP
import Testing

@Suite("Addresses of other servers")
struct OutboundAddressTests {
  @Test(
    "TLS to any host, and plain HTTP on this machine; slashes at the end are dropped",
    arguments: [
      ("https://api.example.com", "https://api.example.com"),
      ("https://api.example.com:65535/", "https://api.example.com:65535"),
      ("https://api.example.com/otlp//", "https://api.example.com/otlp"),
      ("http://127.0.0.1:4318", "http://127.0.0.1:4318"),
      ("HTTP://127.9.9.9:1/a/b", "HTTP://127.9.9.9:1/a/b"),
      ("http://localhost:4318/", "http://localhost:4318"),
      ("http://[::1]:4318", "http://[::1]:4318"),
    ])
  func valid(text: String, shown: String) throws {
    #expect(try OutboundAddress(parsing: text).description == shown)
  }

  private static let form = "https://HOST[:PORT] or http://LOOPBACK:PORT is expected"
  private static let secret = "it may have no user, password, query or fragment"
  private static let port = "a port is 1 to 65535"
  private static let plain = "other machines are reached by https:// only"

  @Test(
    "Anything else is refused with the reason, and shown only if it holds no secret",
    arguments: [
      ("", form), ("x", form), ("127.0.0.1:4318", form), ("//127.0.0.1", form),
      ("ftp://127.0.0.1", form), ("http://", form), ("http:///v1", form), ("https://a b", form),
      ("https://api.example.com/\r\nx: y", form),
      ("https://" + String(repeating: "x", count: 2_048), form),
      ("https://hunter2@a b", form), ("hunter2@api.example.com", form),
      ("https://user:hunter2@api.example.com", secret), ("https://hunter2@api.example.com", secret),
      ("https://:hunter2@api.example.com", secret), ("http://hunter2@127.0.0.1", secret),
      ("https://api.example.com?key=hunter2", secret),
      ("https://api.example.com/a#hunter2", secret),
      ("https://api.example.com:0", port), ("http://127.0.0.1:65536", port),
      ("http://api.example.com:4318", plain), ("http://127.0.0.1.example.com", plain),
      ("http://10.0.0.1:4318", plain), ("http://0.0.0.0", plain), ("http://[::2]", plain),
    ])
  func invalid(text: String, reason: String) {
    let error = #expect(throws: OutboundAddress.Invalid.self) {
      try OutboundAddress(parsing: text)
    }
    let isShown = [Self.port, Self.plain].contains(reason)
    #expect(error?.description == (isShown ? "\(text): \(reason)" : reason))
    #expect(error?.mayHoldSecret == text.contains("hunter2"))
  }
}
