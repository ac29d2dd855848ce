import NIOHTTP1

/// Which pages of other origins may call from a browser (https://fetch.spec.whatwg.org, "CORS
/// protocol"). Never with the credentials of the browser: callers send a token.
package struct CrossOrigin: Sendable {
  /// Exact, such as `https://admin.example.com`.
  private let origins: Set<String>

  package init(_ origins: [String] = []) {
    self.origins = Set(origins)
  }

  private static let allowed = [
    ("access-control-allow-methods", "GET, POST"),
    (
      "access-control-allow-headers",
      "Authorization, Connect-Protocol-Version, Connect-Timeout-Ms, Content-Type"
    ),
    ("access-control-max-age", "7200"),
  ]

  /// Fields of every answer.
  func fields(for head: HTTPRequestHead) -> [(String, String)] {
    if origins.isEmpty { return [] }
    guard let origin = head.headers.first(name: "origin"), origins.contains(origin) else {
      return [("vary", "Origin")]
    }
    return [
      ("access-control-allow-origin", origin), ("vary", "Origin"),
      ("access-control-expose-headers", "Retry-After"),
    ]
  }

  /// The answer to a browser that asks before its request; nil for another request.
  func preflight(_ head: HTTPRequestHead) -> HTTPAnswer? {
    guard head.method == .OPTIONS, head.headers.contains(name: "access-control-request-method"),
      let origin = head.headers.first(name: "origin"), origins.contains(origin)
    else { return nil }
    return HTTPAnswer(.noContent, fields: Self.allowed)
  }

  /// Whether a text can be an origin as browsers send it: a scheme, a host, and no path.
  package static func isOrigin(_ text: String) -> Bool {
    text.wholeMatch(
      of: /https?:\/\/[a-z0-9.\-]+(?::[0-9]{1,5})?|https?:\/\/\[[0-9a-f:]+\](?::[0-9]{1,5})?/)
      != nil
  }
}
