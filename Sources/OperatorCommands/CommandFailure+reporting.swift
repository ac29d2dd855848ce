import Programs

extension CommandFailure {
  /// Tells people, if there is something to tell.
  func report() {
    if let message { Self.tell(message) }
  }

  static func tell(_ message: String) {
    StandardError.write("entitlectl: \(TerminalText.visible(message, keepsLines: true))")
  }
}
