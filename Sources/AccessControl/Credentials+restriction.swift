extension Credentials {
  /// What these credentials and others both allow: the proofs of both, with the permissions and the
  /// scope of both. So that what an operator takes away is gone at once, even when what the file adds
  /// must wait.
  package func restricted(to other: Credentials) -> Credentials {
    let others = Dictionary(uniqueKeysWithValues: other.entries.map { ($0.caller.name, $0) })
    return Credentials(
      entries.compactMap { entry in
        guard let other = others[entry.caller.name] else { return nil }
        return entry.restricted(to: other)
      })
  }
}

extension Credentials.Entry {
  fileprivate func restricted(to other: Credentials.Entry) -> Credentials.Entry {
    let moments = Dictionary(other.tokens.map { ($0.id, $0) }) { first, _ in first }
    let tokens = tokens.compactMap { token -> Credentials.Token? in
      guard let other = moments[token.id], other.digest == token.digest else { return nil }
      let expires = [token.expires, other.expires].compactMap(\.self).min()
      return Credentials.Token(id: token.id, digest: token.digest, expires: expires)
    }
    let caller = Caller(
      name: caller.name, roles: caller.roles.filter { other.caller.roles.contains($0) },
      permissions: caller.permissions.intersection(other.caller.permissions),
      scopes: caller.scopes.intersection(other.caller.scopes), meter: caller.meter)
    return Credentials.Entry(
      caller: caller, tokens: tokens,
      certificates: certificates.filter { other.certificates.contains($0) },
      users: users.filter { other.users.contains($0) })
  }
}
