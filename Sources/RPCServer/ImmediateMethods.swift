import NIOCore
import Wire

/// The methods of a router that may be answered from the bytes of a request alone. An object: handing
/// it on counts one reference.
final class ImmediateMethods: Sendable {
  struct Method: Sendable {
    /// How the envelope of its requests begins.
    let prefix: [UInt8]
    let body: RPCRouter.ImmediateBody
  }

  private let methods: [Method]

  init(_ methods: [Method]) {
    self.methods = methods
  }

  /// The answer to a request envelope; nil when it has to be opened as a call.
  func answer(
    to envelope: UnsafeRawBufferPointer, arrivedAt arrival: NIODeadline, now: NIODeadline
  ) -> ByteBuffer? {
    for index in methods.indices {
      let found = RequestEnvelope.content(of: envelope, after: methods[index].prefix)
      guard let (request, timeout) = found else {
        continue
      }
      guard timeout == 0 || (timeout > 0 && arrival + .nanoseconds(timeout) > now) else {
        return nil
      }
      return methods[index].body(request)
    }
    return nil
  }
}
