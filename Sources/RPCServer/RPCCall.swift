package import NIOCore
package import Wire

/// What a client asks for.
package struct RPCCall: Sendable {
  /// The encoded request message. A slice of what was received: a call that is kept for long
  /// should keep what it decoded from this instead, as the slice holds a whole read's memory.
  package let payload: ByteBuffer
  package let metadata: RPCMetadata
  /// When the client stops waiting; nil is never. After it the server answers by itself.
  package let deadline: NIODeadline?
  package let peer: RPCPeer

  package var eventLoop: any EventLoop {
    peer.eventLoop
  }

  package var allocator: ByteBufferAllocator {
    peer.allocator
  }
}
