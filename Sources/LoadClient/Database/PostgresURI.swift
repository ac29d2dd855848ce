import Foundation

/// The URI of a database, with its password apart: other users of the machine can see the arguments of
/// a program, but not its environment.
struct PostgresURI: Hashable, Sendable {
  /// Without the password.
  private(set) var text: String
  /// Nil: libpq looks for it elsewhere, if it needs one.
  private(set) var password: String?

  /// As libpq takes a URI apart: what is before the first `@` of its authority is the user and,
  /// behind a colon, the password; a parameter weighs more.
  init(_ uri: String) {
    text = uri
    guard let start = uri.firstRange(of: "://")?.upperBound else { return }
    let user = uri[start...].prefix { $0 != "@" && $0 != "/" }
    if user.endIndex < uri.endIndex, uri[user.endIndex] == "@",
      let colon = user.firstIndex(of: ":")
    {
      password = Self.decoded(user[user.index(after: colon)...])
      text = "\(uri[..<colon])\(uri[user.endIndex...])"
    }
    guard let mark = text.firstIndex(of: "?") else { return }
    var kept: [Substring] = []
    for parameter in text[text.index(after: mark)...].split(separator: "&") {
      if parameter.hasPrefix("password=") {
        password = Self.decoded(parameter.dropFirst("password=".count))
      } else {
        kept.append(parameter)
      }
    }
    text = text[..<mark] + (kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
  }

  private static func decoded(_ text: Substring) -> String {
    text.removingPercentEncoding ?? String(text)
  }
}
