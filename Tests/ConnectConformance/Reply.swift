import Framing
import HTTPFront
import NIOCore

/// What the service answers, on its way through the frames to ``ConformanceSite``: a ttrpc answer has a
/// message or a status, and neither header fields nor details of every type. So the payload of each answer
/// is a reply, which is encoded here as a message of its own.
struct Reply {
  var headers: [HeaderField] = []
  var trailers: [HeaderField] = []
  var error: ErrorDefinition?
  var message: ByteBuffer?

  init(_ message: ByteBuffer) {
    self.message = message
  }

  init(_ definition: ResponseDefinition) {
    headers = definition.headers
    trailers = definition.trailers
    error = definition.error
  }

  init(decoding bytes: ByteBuffer) throws(WireError) {
    try bytes.forEachField { field, content throws(WireError) in
      switch field {
      case 1: headers.append(try HeaderField(decoding: content))
      case 2: trailers.append(try HeaderField(decoding: content))
      case 3: error = try ErrorDefinition(decoding: content)
      case 4: message = content
      default: break
      }
    }
  }

  var encoded: ByteBuffer {
    var bytes = ByteBuffer()
    for field in headers { bytes.writeField(1, bytes: field.encoded) }
    for field in trailers { bytes.writeField(2, bytes: field.encoded) }
    if let error { bytes.writeField(3, bytes: error.encoded) }
    if let message { bytes.writeField(4, bytes: message) }
    return bytes
  }

  var details: [ConnectError.Detail] { error?.details.map { ($0.type, $0.value) } ?? [] }
}
