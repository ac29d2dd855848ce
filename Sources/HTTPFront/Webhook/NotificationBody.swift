import AppStorePayloads
import JSON
import NIOCore

/// The body of a request by which the App Store posts a notification.
enum NotificationBody: Hashable {
  /// Version 2: the signed payload, which is all that counts.
  case signed(String)
  /// Version 1: not signed, and without what is needed; with what to do.
  case versionOne(String?)
  /// Anything else, with what it is if that is known.
  case other(String?)

  /// Longer bodies that are no JSON object are not looked at for what they are: that happens on an event
  /// loop, for everyone.
  private static let describedLength = 65_536

  init(_ body: ByteBuffer) {
    let bytes = Array(body.readableBytesView)
    guard let document = try? JSONDocument(bytes, valueLimit: WebhookLimits.values),
      document.nodes[0].kind == .object
    else {
      let found = bytes.count <= Self.describedLength ? MisplacedDocument(bytes) : nil
      self = .other(found?.detail(at: .notificationBody))
      return
    }
    if let payload = document.value(of: "signedPayload", inObjectAt: 0),
      document.nodes[payload].kind == .string
    {
      self = .signed(document.text(ofStringAt: payload))
      return
    }
    let kind = MisplacedDocument.Kind { document.value(of: $0, inObjectAt: 0) != nil }
    let detail = kind.flatMap { MisplacedDocument($0).detail(at: .notificationBody) }
    self = kind == .versionOneNotification ? .versionOne(detail) : .other(detail)
  }
}
