/// All limits of the RPC layer, each with its unit and reason. The static limits are fixed; the
/// others are set for each server or client.
package struct RPCLimits: Hashable, Sendable {
  /// The longest data of a frame, in bytes. This is ttrpc's limit, which stock clients check too.
  package static let maximumFrameData = 4_194_304

  /// The longest data that is skipped, in bytes. The first byte of a larger length is not zero, so
  /// the peer probably speaks another protocol.
  package static let maximumSkippedData = 16_777_215

  /// The most metadata pairs of a request. Without a limit, a frame of empty pairs, two bytes each,
  /// would decode to millions of strings.
  package static let maximumMetadataPairs = 64

  /// Payloads up to this size, in bytes, are copied after their header, so that a batch of answers
  /// is one write. Longer payloads are cheaper to send without a copy.
  package static let maximumCopiedPayload = 16_384

  /// The size of a batch of answers, in bytes, that is flushed before the rest of the read is
  /// handled: large enough to be worth its own system call.
  package static let fullBatch = 65_536

  /// Connections that wait in the kernel to be accepted. Absorbs a burst of reconnecting clients,
  /// as far as `net.core.somaxconn` (4,096) allows.
  package static let acceptBacklog: Int32 = 4096

  /// Connections that a listener accepts in one turn of its event loop. Setting up a connection
  /// takes as long as a dozen calls, so other connections are served in between.
  package static let acceptsPerTurn: UInt = 1

  /// Reads from a connection in one turn of its event loop, each of at most 64 KiB. Keeps a busy
  /// connection from delaying the others.
  package static let readsPerTurn: UInt = 1

  /// TCP keep-alive: idle time and interval in seconds, and the number of probes. A dead peer is
  /// detected within two minutes, also during a long call or an idle stream.
  package static let keepAliveIdleSeconds: Int = 60
  package static let keepAliveProbeSeconds: Int = 15
  package static let keepAliveProbes: Int = 4

  /// Keep-alive idle time and interval, in seconds, for a client that closed its sending side with
  /// calls in flight. The client may be gone.
  package static let halfClosedKeepAliveSeconds: Int = 1

  /// The first bytes of a longer request that are checked before the rest arrives, so that a
  /// malformed request is not buffered. Names and most metadata lie within them.
  package static let earlyCheckLength = 4_096

  /// A connection that ends sooner is short-lived and takes a token of
  /// ``shortConnectionsPerSecond``. Longer than ``lingerTime``, so that connections that broke the
  /// protocol count too.
  package static let shortConnectionTime: Duration = .seconds(2)

  /// What each connection may hold of ``memory`` in any case, in bytes, so that small calls are
  /// answered however much other connections hold. Output and incomplete requests up to this size
  /// are not counted: most connections have no more.
  package static let guaranteedMemory = 16_384

  /// How much memory a call in flight is counted for, in bytes, in addition to its request: its task
  /// and what waits for its answer.
  package static let memoryPerCall = 1_024

  /// How many bytes of memory each byte of a request is counted for, until its work ends: a
  /// submission has its decoded text, the bytes to verify and those to store, all as long as the
  /// request, and its facts.
  package static let memoryPerRequestByte = 4

  /// How often a connection that may not be read looks whether there is memory again.
  package static let memoryRetryTime: Duration = .milliseconds(25)

  /// How often a connection that holds counted output looks how much of it was sent. The channel
  /// reports that only sometimes.
  package static let memoryCheckTime: Duration = .seconds(1)

  /// How long a listener stops accepting when the process or the system has no file descriptor
  /// left.
  package static let acceptFailurePause: Duration = .seconds(1)

  /// TLS handshakes that are not finished. One more ends the oldest one: a client that does not
  /// finish must not keep out the clients after it. An unfinished handshake holds about 60 kB.
  package static let unfinishedHandshakes = 256

  /// Tokens of ``shortConnectionsPerSecond`` that a short-lived or unfinished TLS connection takes:
  /// a handshake costs about 500 µs, four times as much as accepting a connection.
  package static let tokensPerHandshake = 4

  /// How long a closing TLS connection waits for the client's answer to its closing alert.
  package static let tlsClosingTime: Duration = .seconds(1)

  /// The calls in flight of a connection that no known caller has used (``unknownTime``): streams of
  /// health checks.
  package static let unknownStreams = 4
  /// The longest time for which a call without a valid credential waits for its answer
  /// (``refusalsPerSecond``).
  package static let refusalDelay: Duration = .seconds(10)
  /// The longest request of a method that needs no credential, in bytes: the name of a service.
  package static let openRequestLength = 1_024
  /// The memory of connections that no known caller has used: ``memory`` divided by this, and not a part
  /// of it. At least 6 MiB, so that the longest first request fits.
  package static let unknownMemoryPart = 8
  /// The places of TCP connections that are kept for Unix sockets and probes, so that an operator can always
  /// connect: at most this many, and at most a tenth of all.
  package static let localConnections = 16

  /// The longest message that is converted to protobuf on an event loop, in bytes: some tens of
  /// microseconds, less than what HTTP costs around it.
  package static let convertedInPlace = 4_096
  /// Bytes of a longer message that cost its caller one token before it is converted, and at least one
  /// token in all. A call whose own cost is higher pays no more than that.
  package static let convertedBytesPerToken = 65_536
  /// Longer messages that wait to be converted, and their bytes. One caller has at most as many as it
  /// leaves to others.
  package static let convertedMessages = 256
  package static let convertedBytes = 67_108_864
  /// Working time of a caller's turn among them: a message that takes longer counts as several turns.
  package static let conversionTurn: Duration = .milliseconds(4)

  /// The shortest time between two lines of the log about the same shortage.
  package static let shortageLogTime: Duration = .seconds(60)

  /// Open connections of a server. Bounds sockets and their memory.
  package var connections: Int

  /// Streams in flight on one connection. Bounds the work that one peer can queue. Further requests
  /// fail with RESOURCE_EXHAUSTED immediately.
  package var streamsPerConnection: Int

  /// How long a connection may be idle without a stream in flight, or not writable because of
  /// unread answers (`writeBufferPause`). Together with TCP keep-alive, this detects peers that
  /// vanished or hang.
  package var idleTime: Duration

  /// How long a frame may take to arrive after its first byte. Bounds how long a slow sender can
  /// occupy memory for an incomplete frame.
  package var frameTime: Duration

  /// The size of unread answers, in bytes, above which the server stops reading requests from the
  /// peer. Large enough for a batch of answers, and small enough to bound the memory of a peer that
  /// does not read.
  package var writeBufferPause: Int

  /// The size of unread answers, in bytes, above which a stream ends and a call fails with
  /// RESOURCE_EXHAUSTED. Must be at least the size of a frame.
  package var writeBuffer: Int

  /// How long a stream may wait for its client to read: from `writeBufferPause` down to a quarter
  /// of it. Then the stream ends with RESOURCE_EXHAUSTED. A client that reads 10 kB a second keeps
  /// up.
  package var slowReaderTime: Duration

  /// When a call is repeated that was refused because its caller has too many calls or connections:
  /// the time in which some of them probably end.
  package static let callerRetryDelay = Duration.milliseconds(200)

  /// How long calls in flight may take after a shutdown has begun.
  package var shutdownTime: Duration

  /// Token bucket of each connection for frames that break the protocol (a malformed envelope, too
  /// long, an invalid or used stream id): capacity, and tokens a second. A frame costs one token,
  /// and one more for each 64 KiB. A frame that finds the bucket empty ends the connection.
  package var brokenFrames: Int

  /// Token bucket of each kind of listener for TCP connections that end within ``shortConnectionTime`` or
  /// are refused: capacity, and tokens a second. While it is empty, new connections wait in the kernel's queue
  /// (`acceptBacklog`). Bounds the cost of clients that only connect and close, about 150 µs each.
  package var shortConnectionsPerSecond: Int

  /// How long the client may take to read the last answers when the server closes first. An
  /// immediate close could lose them, as unread requests make the kernel reset the connection. A
  /// connection that broke the protocol stays open for the same time, unread.
  package var lingerTime: Duration

  /// Messages of one stream that a client buffers for its reader, in bytes. ttrpc has no flow
  /// control for a single stream, so a stream whose reader is further behind ends with
  /// RESOURCE_EXHAUSTED.
  package var streamReadBuffer: Int

  /// How long a TLS handshake may take from the accepted connection: several round trips over a slow
  /// link. Without it, a client that stays silent would hold a connection for ``idleTime``.
  package var handshakeTime: Duration

  /// Token bucket for calls without a valid credential, over all connections: capacity, and tokens a
  /// second. While it is empty, such a call is answered when its token is there, and a connection
  /// without a known caller is not read until then. Bounds what clients without a credential cost,
  /// about 20 µs for each call.
  package var refusalsPerSecond: Int

  /// With access control: how long a connection may be open without a call of a known caller. A
  /// caller sends its credential with its first call.
  package var unknownTime: Duration

  /// The memory of all connections of a server together, in bytes: incomplete requests, calls in
  /// flight and unread output. Those that no known caller has used have memory of their own
  /// (``unknownMemoryPart``). At least 48 MiB, so that a single connection can send the longest
  /// request and get the longest answer.
  package var memory: Int

  package init(
    connections: Int = 16_384,
    streamsPerConnection: Int = 1024,
    idleTime: Duration = .seconds(900),
    frameTime: Duration = .seconds(30),
    writeBufferPause: Int = 262_144,
    writeBuffer: Int = 8_388_608,
    slowReaderTime: Duration = .seconds(30),
    shutdownTime: Duration = .seconds(10),
    brokenFrames: Int = 16,
    shortConnectionsPerSecond: Int = 2500,
    lingerTime: Duration = .seconds(1),
    streamReadBuffer: Int = 4_194_304,
    handshakeTime: Duration = .seconds(10),
    refusalsPerSecond: Int = 200,
    unknownTime: Duration = .seconds(30),
    memory: Int = 134_217_728
  ) {
    self.connections = connections
    self.streamsPerConnection = streamsPerConnection
    self.idleTime = idleTime
    self.frameTime = frameTime
    self.writeBufferPause = writeBufferPause
    self.writeBuffer = writeBuffer
    self.slowReaderTime = slowReaderTime
    self.shutdownTime = shutdownTime
    self.brokenFrames = brokenFrames
    self.shortConnectionsPerSecond = shortConnectionsPerSecond
    self.lingerTime = lingerTime
    self.streamReadBuffer = streamReadBuffer
    self.handshakeTime = handshakeTime
    self.refusalsPerSecond = refusalsPerSecond
    self.unknownTime = unknownTime
    self.memory = memory
  }
}
