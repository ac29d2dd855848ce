import Framing

/// The limits of an HTTP listener, beyond those of ``RPCLimits``, each with its unit and reason.
package struct HTTPFrontLimits: Hashable, Sendable {
  /// The longest list of header fields with the target of the request, in bytes. A GET has its message
  /// in the target.
  package static let headerList = 16_384

  /// The most header fields of a request. Each costs an allocation.
  package static let headerFields = 128

  /// Requests that may wait for the answer to an earlier one of their connection. They were read
  /// together with it: nothing more is read meanwhile.
  package static let pipelinedRequests = 32

  /// The longest body of a client that is no known caller: more is not even received.
  package static let unknownBody = 65_536

  /// Bytes of it that are kept: more than a method without a credential takes (``RPCLimits/openRequestLength``),
  /// as the call is refused for its credential, whatever the rest is.
  package static let keptUnknownBody = 2_048

  /// How long the client may take to read the last answer when the server closes.
  package static let lingerTime = Duration.seconds(1)

  /// Refused requests that a connection may send in a second, before it is closed.
  package static let refusedRequests = 8

  /// The longest body, in bytes.
  package var body: Int

  /// Bytes of a body that are not counted in ``unfinishedBodies``, so that small calls are answered
  /// however much the bodies of others take.
  package var uncountedBody = 16_384

  /// How long a request may take from its first byte to its last one, however evenly the bytes arrive.
  package var requestTime: Duration

  /// How long a connection may stay open without a request. Clients and proxies that keep
  /// connections usually give them up after a minute.
  package var keepAliveTime: Duration

  /// The bytes of unfinished bodies of all connections together. A caller has at most as many as it leaves to
  /// others; more is refused.
  package var unfinishedBodies: Int

  /// Open connections of this listener; each counts in ``RPCLimits/connections`` too.
  package var connections: Int

  package init(
    body: Int = RPCLimits.maximumFrameData, requestTime: Duration = .seconds(30),
    keepAliveTime: Duration = .seconds(75), unfinishedBodies: Int = 67_108_864,
    connections: Int = .max
  ) {
    self.body = body
    self.requestTime = requestTime
    self.keepAliveTime = keepAliveTime
    self.unfinishedBodies = unfinishedBodies
    self.connections = connections
  }

  /// Those of a listener for probes, whose requests have no body.
  package static let probes = HTTPFrontLimits(body: 1_024)

  /// Those of a listener that everyone may reach. A notification with its payloads has about 20 kB, so
  /// that none is refused for the bodies of others.
  ///
  /// - Parameter connections: of the whole server: most of them are left to its callers.
  package static func webhook(sharing connections: Int) -> HTTPFrontLimits {
    var limits = HTTPFrontLimits(
      body: 1_048_576, unfinishedBodies: 16_777_216,
      connections: min(1_024, max(1, connections / 4)))
    limits.uncountedBody = 65_536
    return limits
  }
}
