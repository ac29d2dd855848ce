/// A connection string that is an argument of a program. Every user of the machine can see arguments
/// in the process list, so that they must contain no password.
package enum ConnectionArgument {
  /// Why an argument is refused, without any part of it; nil if it contains no secret.
  ///
  /// - Parameters:
  ///   - option: the option's name.
  ///   - alternative: where the program takes the whole connection string instead, such as "in NAME in
  ///     the environment"; nil if nowhere.
  package static func refusal(
    of text: String, as option: String, alternative: String? = nil
  ) -> String? {
    guard containsSecret(text) else { return nil }
    let whole = alternative.map { "Give the connection string \($0), or leave" } ?? "Leave"
    return
      "\(option) contains a password, and every user of the machine can see arguments. \(whole) "
      + "the password out and put it into ~/.pgpass, or into a file named by PGPASSFILE or by "
      + "passfile= in the connection string, such as a copy of a systemd credential in "
      + "$CREDENTIALS_DIRECTORY"
  }

  private static func containsSecret(_ text: String) -> Bool {
    do throws(PostgresFailure) {
      return try PostgresConnectionString(text).containsSecret
    } catch {
      // It cannot be used. A mistyped password in it is one all the same.
      guard let scheme = text.firstRange(of: "://") else { return text.contains("password") }
      let rest = text[scheme.upperBound...]
      let user = rest.lastIndex(of: "@").map { rest[..<$0] } ?? ""
      return user.contains(":") || rest.contains("password")
    }
  }
}
