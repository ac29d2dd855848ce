import AppStoreServerAPI
import OutboundHTTP
import Testing

@Suite("Addresses of the API")
struct AddressTests {
  @Test("Apple's hosts are the default, and each may be replaced")
  func replaced() throws {
    #expect(AppStoreServerAddresses().production.description == "https://api.storekit.apple.com")
    #expect(
      AppStoreServerAddresses().sandbox.description == "https://api.storekit-sandbox.apple.com")
    for (text, production, sandbox) in [
      ("production=https://a.example.com/x/", "https://a.example.com/x", nil),
      ("sandbox=http://127.0.0.1:7190", nil, "http://127.0.0.1:7190"),
      (
        "sandbox=http://[::1]:1,production=http://localhost:2/a", "http://localhost:2/a",
        "http://[::1]:1"
      ),
      ("production=https://a.example.com:65535", "https://a.example.com:65535", nil),
      ("production=HTTP://127.9.9.9:8080", "HTTP://127.9.9.9:8080", nil),
    ] as [(String, String?, String?)] {
      let addresses = try AppStoreServerAddresses(parsing: text)
      let apple = AppStoreServerAddresses()
      #expect(addresses.production.description == production ?? apple.production.description)
      #expect(addresses.sandbox.description == sandbox ?? apple.sandbox.description)
    }
  }

  @Test(
    "All else is refused, with the reason and without a secret",
    arguments: [
      ("production=http://api.example.com", "other machines are reached by https:// only"),
      ("production=http://127.0.0.1.example.com", "other machines are reached by https:// only"),
      ("production=http://0.0.0.0", "other machines are reached by https:// only"),
      ("production=http://[::2]", "other machines are reached by https:// only"),
      ("production=https://user:hunter2@api.example.com", "it may have no user"),
      ("production=https://hunter2@api.example.com", "it may have no user"),
      ("production=https://api.example.com?key=hunter2", "it may have no user"),
      ("production=https://api.example.com/a#hunter2", "it may have no user"),
      ("production=ftp://api.example.com", "https://HOST[:PORT] or"),
      ("production=api.example.com", "https://HOST[:PORT] or"), ("production=", "https://HOST"),
      ("production=https://", "https://HOST"), ("production=https://a b", "https://HOST"),
      ("https://api.example.com", "production=URL, sandbox=URL or both"), ("", "production=URL"),
      ("production", "production=URL"), ("xcode=https://a.example.com", "production=URL"),
      ("production=https://a.example.com:0", "a port is 1 to 65535"),
      ("production=https://a.example.com:65536", "a port is 1 to 65535"),
      ("sandbox=http://127.0.0.1:70000", "a port is 1 to 65535"),
      ("production=https://a.example.com:99999999999999999999", "is"),
      ("production=https://a,production=https://b", "production is there twice"),
    ])
  func refused(text: String, reason: String) {
    do {
      _ = try AppStoreServerAddresses(parsing: text)
      Issue.record("\(text) is accepted")
    } catch {
      #expect(error.description.contains(reason), "\(error)")
      #expect(!error.description.contains("hunter2"))
    }
  }
}
