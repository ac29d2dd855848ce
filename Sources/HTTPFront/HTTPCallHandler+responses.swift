import Framing
import NIOCore
import NIOHTTP1
import RPCServer

/// Turns the frames of an answer into a response.
extension HTTPCallHandler {
  func handleFrames(_ frames: ByteBuffer) {
    decoder.append(frames)
    while let decoded = decoder.next() {
      if case .frame(let frame) = decoded { handle(frame) }
    }
    decoder.compact()
  }

  private func handle(_ frame: Frame) {
    guard case .calling(let request, let translation, let id) = state,
      frame.header.streamID == id
    else { return }
    switch translation {
    case let unary as any UnaryTranslation:
      guard frame.header.type == .response else { return }
      let response =
        (try? ResponseEnvelope(decoding: frame.data))
        ?? ResponseEnvelope(status: RPCStatus(.internal))
      write(unary.answer(to: response, now: peer.eventLoop.now), to: request)
    case let stream as any StreamTranslation:
      handle(frame, of: stream, to: request)
    default:
      break
    }
  }

  private func handle(
    _ frame: Frame, of stream: any StreamTranslation, to request: Request
  ) {
    if frame.header.type == .response {
      let status =
        (try? ResponseEnvelope(decoding: frame.data))?.status ?? RPCStatus(.internal)
      end(stream, status, to: request)
      return
    }
    guard frame.header.type == .data else { return }
    if !frame.header.flags.contains(.noData) {
      guard let message = stream.message(frame.data) else {
        // The call goes on, and can only be ended with its connection.
        let status = RPCStatus(.internal, "a message could not be converted")
        end(stream, status, to: request, closes: true)
        return
      }
      writeBody(message)
    }
    if frame.header.flags.contains(.remoteClosed) {
      end(stream, nil, to: request)
    }
  }

  private func end(
    _ stream: any StreamTranslation, _ status: RPCStatus?, to request: Request,
    closes: Bool = false
  ) {
    writeBody(stream.end(status))
    writePart(.end(nil))
    // Without chunks, the end of the connection is the end of the body.
    let keepsAlive = keepsAlive(after: request) && !closes && request.version.hasChunks
    responseEnded(keepsAlive: keepsAlive)
  }

  /// Writes a complete response.
  func write(_ answer: HTTPAnswer, to request: Request) {
    var closes = answer.closes
    if answer.penalty > 0, !penalties.take(answer.penalty, now: peer.eventLoop.now) {
      closes = true
    }
    writeHead(
      answer.status, answer.fields, bodyLength: answer.body.readableBytes, of: request,
      closes: closes)
    if answer.body.readableBytes > 0, !request.isHead { writeBody(answer.body) }
    writePart(.end(nil))
    responseEnded(keepsAlive: keepsAlive(after: request) && !closes)
  }

  private func keepsAlive(after request: Request) -> Bool {
    request.isKeptAlive && !isShuttingDown
  }

  /// - Parameter bodyLength: nil: not known yet.
  func writeHead(
    _ status: HTTPResponseStatus, _ fields: [(String, String)], bodyLength: Int?,
    of request: Request, closes: Bool
  ) {
    front.responded(status)
    var headers = HTTPHeaders(fields)
    headers.add(contentsOf: request.commonFields)
    headers.add(name: "date", value: HTTPDate.now)
    if let bodyLength, status != .noContent {
      headers.add(name: "content-length", value: String(bodyLength))
    }
    let isLast =
      closes || !keepsAlive(after: request) || bodyLength == nil && !request.version.hasChunks
    if isLast {
      headers.add(name: "connection", value: "close")
    } else if !request.version.hasChunks {
      headers.add(name: "connection", value: "keep-alive")
    }
    writePart(.head(HTTPResponseHead(version: request.version, status: status, headers: headers)))
  }

  private func writeBody(_ bytes: ByteBuffer) {
    writePart(.body(.byteBuffer(bytes)))
  }

  private func writePart(_ part: HTTPServerResponsePart) {
    needsFlush = true
    context?.write(wrapOutboundOut(part), promise: nil)
  }
}

extension HTTPVersion {
  /// Whether it is 1.1, and not 1.0: bodies may have chunks, and connections are kept alive unless
  /// somebody asks otherwise. The decoder accepts no other version.
  var hasChunks: Bool { minor >= 1 }
}
