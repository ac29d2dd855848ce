import Wire

extension Settings {
  /// Without any access control, only this machine may connect, unless the operator says so.
  func checkAddresses() throws(StartFailure) {
    guard !allowUnprotectedListen, let address = listen.first(where: { !$0.isLoopback })
    else { return }
    throw StartFailure(
      .addressNotPermitted,
      "\(address) can be reached from other machines, and there is no access control. Listen on "
        + "127.0.0.1, [::1] or a Unix socket, or say --allow-unprotected-listen.")
  }
}
