import JSON
import NIOCore

/// The body of a request by which the App Store posts a notification.
enum NotificationBody: Hashable {
  /// Version 2: the signed payload, which is all that counts.
  case signed(String)
  /// Version 1: not signed, and without what is needed.
  case versionOne
  case unknown

  /// Members of version 1, which all of its notifications have.
  private static let versionOneMembers: [StaticString] = ["notification_type", "unified_receipt"]

  init(_ body: ByteBuffer) {
    guard
      let document = try? JSONDocument(
        Array(body.readableBytesView), valueLimit: WebhookLimits.values),
      document.nodes[0].kind == .object
    else {
      self = .unknown
      return
    }
    if let payload = document.value(of: "signedPayload", inObjectAt: 0),
      document.nodes[payload].kind == .string
    {
      self = .signed(document.text(ofStringAt: payload))
    } else if Self.versionOneMembers.contains(where: {
      document.value(of: $0, inObjectAt: 0) != nil
    }) {
      self = .versionOne
    } else {
      self = .unknown
    }
  }
}
