import Framing
import Testing
import Wire

@Suite("Server addresses")
struct ServerAddressTests {
  @Test(
    "Addresses survive parsing and formatting",
    arguments: [
      ("127.0.0.1:7100", .tcp(host: "127.0.0.1", port: 7100)),
      ("localhost:0", .tcp(host: "localhost", port: 0)),
      ("[::1]:65535", .tcp(host: "::1", port: 65535)),
      ("entitle.example.com:1", .tcp(host: "entitle.example.com", port: 1)),
      ("tls:127.0.0.1:7100", .tls(host: "127.0.0.1", port: 7100)),
      ("tls:[::1]:7100", .tls(host: "::1", port: 7100)),
      ("mtls:entitle.example.com:7100", .mutualTLS(host: "entitle.example.com", port: 7100)),
      ("unix:/run/entitle/rpc.sock", .unix(path: "/run/entitle/rpc.sock")),
      ("unix:run/rpc.sock", .unix(path: "run/rpc.sock")),
    ] as [(String, ServerAddress)])
  func parsing(text: String, address: ServerAddress) throws {
    #expect(try ServerAddress(parsing: text) == address)
    #expect(address.description == text)
  }

  @Test(
    "Invalid addresses are refused",
    arguments: [
      "", ":", "host", "host:", ":80", "host:65536", "host:-1", "host:+1", "host: 80", "::1:80",
      "[]:80", "[::1]", "[host]:80", "ho st:80", "http://host:80", "unix:",
      "unix:/" + String(repeating: "x", count: 107), "unix:/a\u{0}b", "tls:", "tls:host",
      "tls:unix:/a", "TLS:host:1", "[::1:80", "::1]:80",
    ])
  func refused(text: String) {
    let error = #expect(throws: WireError.self) { try ServerAddress(parsing: text) }
    #expect(error?.code == .invalidAddress)
  }

  @Test(
    "Loopback addresses are recognised",
    arguments: [
      ("127.0.0.1:1", true), ("127.9.8.7:1", true), ("[::1]:1", true), ("LocalHost:1", true),
      ("unix:/a", true), ("tls:127.0.0.1:1", true),
      ("mtls:[::1]:1", true), ("tls:10.0.0.1:1", false), ("0.0.0.0:1", false), ("[::]:1", false),
      ("10.0.0.1:1", false),
      ("127.example.com:1", false), ("127.0.0.1.example.com:1", false), ("127.1:1", false),
    ])
  func loopback(text: String, isLoopback: Bool) throws {
    #expect(try ServerAddress(parsing: text).isLoopback == isLoopback)
  }
}
