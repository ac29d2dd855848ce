import Cryptography
package import EntitlementDomain

extension Catalog {
  /// The token that the app derives from an account id: the UUID of version 5 (RFC 9562, section
  /// 5.5) of the id in the app's namespace, in lower case (R74). Nil where it derives none.
  package func derivedToken(of account: AccountID, in scope: AppScope) -> ScopedToken? {
    // SHA-1 is what version 5 is defined by. Nothing rests on its collisions: the backend that
    // chooses the account ids is trusted to name accounts. It fails only if OpenSSL is broken, and
    // then no token is derived.
    guard let namespace = tokenNamespace(in: scope),
      var bytes = try? SHA1.digest(of: namespace.bytes + Array(account.rawValue.utf8))
    else { return nil }
    bytes.removeLast(bytes.count - 16)
    bytes[6] = bytes[6] & 0x0f | 0x50
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Array("0123456789abcdef")
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append("-") }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return ScopedToken(scope, AppAccountToken(text))
  }
}
