import Framing

/// Addresses that other machines can reach, and what protects them.
extension Settings {
  /// An address without what it needs.
  private struct Unprotected {
    let address: ServerAddress
    /// Whether everyone may call there.
    let lacksCredentials: Bool
    let isWebhook: Bool

    var missing: [String] {
      [
        lacksCredentials ? "no access control (--credentials FILE)" : nil,
        address.isEncrypted ? nil : "no TLS (tls:HOST:PORT)",
      ].compactMap(\.self)
    }

    var risk: String {
      if isWebhook { return "notifications of the App Store are sent in plain text" }
      return lacksCredentials
        ? "everyone who reaches it may read, submit, grant and delete"
        : "tokens and answers are sent in plain text"
    }
  }

  /// All addresses to listen on.
  var addresses: [ServerAddress] { listen + httpListen + webhookListen + probeListen }

  /// The addresses that other machines can reach without credentials or without TLS. Callers of the
  /// webhook have no credentials: what counts there is what Apple signed.
  private var unprotectedAddresses: [Unprotected] {
    let forCallers = (listen + httpListen + probeListen).map { address in
      Unprotected(
        address: address, lacksCredentials: credentialsPath == nil, isWebhook: false)
    }
    let forApple = webhookListen.map { address in
      Unprotected(address: address, lacksCredentials: false, isWebhook: true)
    }
    return (forCallers + forApple).filter { !$0.address.isLoopback && !$0.missing.isEmpty }
  }

  /// Refuses addresses that other machines can reach without credentials and TLS, unless the operator
  /// allows them.
  func checkAddresses() throws(StartFailure) {
    guard !allowUnprotectedListen, let first = unprotectedAddresses.first else { return }
    let remedy = first.isWebhook ? "Use TLS" : "Use both"
    throw StartFailure(
      .addressNotPermitted,
      "\(first.address) can be reached from other machines, and there is "
        + first.missing.joined(separator: " and ")
        + ". \(remedy), or listen on 127.0.0.1, [::1] or a Unix socket. Only if something else "
        + "protects the address, set --allow-unprotected-listen.")
  }

  /// What is unsafe in the addresses, a sentence each.
  var addressWarnings: [String] {
    unprotectedAddresses.map { unprotected in
      "\(SettingKey.allowUnprotectedListen.rawValue): \(unprotected.address) can be reached from "
        + "other machines: \(unprotected.risk)"
    }
  }
}
