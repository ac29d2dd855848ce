/// Every limit of the framed front, each with its unit and reason. The static ones belong to the
/// protocol, the others to a server or client.
package struct RPCLimits: Hashable, Sendable {
  /// Longest data of one frame, in bytes: ttrpc's own limit, which stock clients check too.
  package static let maximumFrameData = 4_194_304

  /// Longest data worth skipping, in bytes. A length above it has a first byte that is not zero,
  /// and comes from something that does not speak this protocol rather than from a large message.
  package static let maximumSkippedData = 16_777_215

  /// Most metadata pairs of one request. A few are used; without a limit, empty pairs of two
  /// bytes would turn one frame into millions of strings.
  package static let maximumMetadataPairs = 64

  /// Payloads up to this many bytes are copied behind their header, so that a batch of answers
  /// is one write; longer ones are cheaper to send from where they are.
  package static let maximumCopiedPayload = 16_384

  /// Answers written together that are worth a system call of their own, in bytes: they are sent
  /// without waiting for the rest of the batch.
  package static let fullBatch = 65_536

  /// Connections that wait to be accepted, and those accepted in one turn of a listener's loop.
  /// The first absorbs a burst of reconnecting clients, as far as the system allows
  /// (`net.core.somaxconn`, 4,096). To set one up takes as long as a dozen calls, and a turn to itself
  /// costs nothing beside it: between two, everybody else is served.
  package static let acceptBacklog: Int32 = 4096
  package static let acceptsPerTurn: UInt = 1

  /// Reads from a connection in one turn of its loop, of 64 KiB at most: who sends much is served between
  /// the others.
  package static let readsPerTurn: UInt = 1

  /// When TCP asks a silent peer whether it is still there, in seconds, and how often before it
  /// counts as gone: two minutes in all. Watches over calls that take long and quiet streams.
  package static let keepAliveIdleSeconds: Int = 60
  package static let keepAliveProbeSeconds: Int = 15
  package static let keepAliveProbes: Int = 4

  /// The same for a client that has closed its sending side and has calls in flight, in seconds:
  /// it may have closed everything.
  package static let halfClosedKeepAliveSeconds: Int = 1

  /// How much of a longer request is looked at as soon as it is there, in bytes: what cannot become a
  /// request need not be kept until it is whole. Names and most metadata lie within it.
  package static let frameBeginning = 4_096

  /// A connection that ends sooner is a short one, counted by ``shortConnectionsPerSecond``. Longer than
  /// ``lingerTime``, so that one that broke the protocol is counted too.
  package static let shortConnectionTime: Duration = .seconds(2)

  /// Open connections of a server. Bounds sockets and the memory of idle ones.
  package var connections: Int

  /// Streams in flight on one connection. Bounds the work that one peer can queue; beyond it the
  /// answer is RESOURCE_EXHAUSTED at once.
  package var streamsPerConnection: Int

  /// How long a connection may stay silent with no stream in flight, or leave so much unread that
  /// no more is read from it (`writeBufferPause`). Finds peers that went away without a word or
  /// hang, together with TCP keep-alive.
  package var idleTime: Duration

  /// How long one frame may take to arrive once it has begun. Slow senders would otherwise hold
  /// up to a frame's length of memory for as long as they like.
  package var frameTime: Duration

  /// Answers waiting for the peer to read them at which no more requests are read from it, in
  /// bytes. Large enough for a batch of answers, small enough that a peer that only asks costs
  /// little.
  package var writeBufferPause: Int

  /// Answers waiting for the peer to read them at which a stream is ended, and a call refused,
  /// with RESOURCE_EXHAUSTED, in bytes. Must hold at least one frame.
  package var writeBuffer: Int

  /// How long the reader of a stream may take to read what waits for it (from `writeBufferPause`
  /// down to a quarter), where the stream waits for it: beyond that it is ended with
  /// RESOURCE_EXHAUSTED. A reader at 10 kB a second keeps up.
  package var slowReaderTime: Duration

  /// How long calls in flight may take after shutdown has begun.
  package var shutdownTime: Duration

  /// Token bucket for frames of one connection that break the protocol (a malformed envelope, too
  /// long, a stream id that is wrong or in use): so many at once, and as many a second. A frame costs
  /// one more for each 64 KiB. The first one that finds no token ends the connection.
  package var brokenFrames: Int

  /// Token bucket for TCP connections that end within ``shortConnectionTime`` or are refused: so many at
  /// once, and as many a second. While it is empty, new connections wait in the system's queue
  /// (`acceptBacklog`). Bounds what clients cost that only connect and close: some 150 µs each time.
  package var shortConnectionsPerSecond: Int

  /// How long the last answer may take to be read when the server closes first. Closing at once
  /// could destroy it, as unread requests make the kernel reset the connection. A connection that broke
  /// the protocol stays open for as long, unread.
  package var lingerTime: Duration

  /// Messages of one stream that a client keeps for its reader, in bytes. ttrpc has no flow
  /// control for a single stream; a reader this far behind is ended with RESOURCE_EXHAUSTED.
  package var streamReadBuffer: Int

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
    streamReadBuffer: Int = 4_194_304
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
  }
}
