/// Who uses a connection.
enum ConnectionRole: Hashable, Sendable {
  /// Many callers at once, who only read.
  case reading
  /// One caller at a time.
  case session
  /// One listener.
  case listening(ObjectIdentifier)
}
