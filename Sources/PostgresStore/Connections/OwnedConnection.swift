import CPostgres

/// A connection of libpq's. It is closed with this object.
// @unchecked: it is made on one thread and then handed to another, which alone goes on with it.
final class OwnedConnection: @unchecked Sendable {
  let pointer: OpaquePointer
  /// libpq keeps only an address of it.
  private let notices: NoticeSink

  /// Takes a connection over.
  init(owning pointer: OpaquePointer, notices: NoticeSink) {
    self.pointer = pointer
    self.notices = notices
    PQsetNoticeReceiver(
      pointer,
      { context, result in
        guard let context else { return }
        // It is the sink that the owner of the connection keeps until the connection is closed.
        Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue().received(result)
      }, Unmanaged.passUnretained(notices).toOpaque())
  }

  deinit { PQfinish(pointer) }

  var isOpen: Bool { PQstatus(pointer) == CONNECTION_OK }

  /// What libpq says of its last trouble.
  var reason: String { String(cString: PQerrorMessage(pointer)).trimmed }
}
