import Foundation
package import Traces
import Tracing

/// What emits the spans: the attributes of the resource.
package struct TraceResource: Sendable {
  package let service: String
  package let version: String
  /// Tells this process apart from others of the same service.
  package let instance: String

  package init(service: String, version: String, instance: String) {
    self.service = service
    self.version = version
    self.instance = instance
  }
}

/// A request to a collector: `ExportTraceServiceRequest` of OTLP 1 as JSON. Unlike in other JSON of
/// protobuf, ids are hexadecimal; enumerations are numbers, and 64-bit numbers are text
/// (https://opentelemetry.io/docs/specs/otlp/, section "JSON Protobuf Encoding").
package enum TraceDocument {
  /// Flags of a span: the sampled flag of the trace, whether the next bit is known, and whether the parent
  /// is of another process (`SpanFlags` of the protocol).
  private static let sampled = 0x01
  private static let knowsRemote = 0x100
  private static let isRemote = 0x200

  package static func encode(_ spans: [SpanRecord], of resource: TraceResource) -> [UInt8] {
    let attributes: SpanAttributes = [
      "service.name": .string(resource.service), "service.version": .string(resource.version),
      "service.instance.id": .string(resource.instance),
    ]
    let document: [String: Any] = [
      "resourceSpans": [
        [
          "resource": ["attributes": list(attributes)],
          "scopeSpans": [
            [
              "scope": ["name": "entitle", "version": resource.version],
              "spans": spans.map(object),
            ] as [String: Any]
          ],
        ]
      ]
    ]
    // Only texts, numbers, truth values, lists and objects: it is always valid.
    let data = try? JSONSerialization.data(
      withJSONObject: document, options: [.withoutEscapingSlashes])
    return data.map { [UInt8]($0) } ?? []
  }

  private static func object(_ span: SpanRecord) -> [String: Any] {
    var object: [String: Any] = [
      "traceId": span.parent.traceID.hexadecimal, "spanId": span.spanID.hexadecimal,
      "flags": sampled | knowsRemote | (span.parent.isRemote ? isRemote : 0),
      "name": text(span.name), "kind": number(span.kind), "startTimeUnixNano": "\(span.start)",
      "endTimeUnixNano": "\(span.end)", "attributes": list(span.attributes),
      "droppedAttributesCount": dropped(span.attributes),
    ]
    if let parent = span.parent.spanID { object["parentSpanId"] = parent.hexadecimal }
    if !span.parent.state.isEmpty { object["traceState"] = span.parent.state }
    if !span.events.isEmpty { object["events"] = span.events.map(self.object) }
    if let status = span.status {
      var value: [String: Any] = ["code": status.code == .ok ? 1 : 2]
      if let message = status.message { value["message"] = text(message) }
      object["status"] = value
    }
    return object
  }

  private static func object(_ event: SpanEvent) -> [String: Any] {
    [
      "timeUnixNano": "\(event.nanosecondsSinceEpoch)", "name": text(event.name),
      "attributes": list(event.attributes),
      "droppedAttributesCount": dropped(event.attributes),
    ]
  }

  private static func number(_ kind: SpanKind) -> Int {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }

  // MARK: Attributes

  private static func list(_ attributes: SpanAttributes) -> [[String: Any]] {
    var all: [(key: String, value: SpanAttribute)] = []
    attributes.forEach { all.append(($0, $1)) }
    return all.sorted { $0.key < $1.key }.prefix(TraceLimits.attributes).map {
      ["key": text($0.key), "value": value($0.value)]
    }
  }

  private static func dropped(_ attributes: SpanAttributes) -> Int {
    max(0, attributes.count - TraceLimits.attributes)
  }

  private static func value(_ attribute: SpanAttribute) -> [String: Any] {
    switch attribute {
    case .int32(let number): ["intValue": "\(number)"]
    case .int64(let number): ["intValue": "\(number)"]
    case .double(let number): value(number)
    case .bool(let isTrue): ["boolValue": isTrue]
    case .string(let string): ["stringValue": text(string)]
    case .stringConvertible(let other): ["stringValue": text("\(other)")]
    case .int32Array(let numbers): list(numbers) { ["intValue": "\($0)"] }
    case .int64Array(let numbers): list(numbers) { ["intValue": "\($0)"] }
    case .doubleArray(let numbers): list(numbers, value)
    case .boolArray(let values): list(values) { ["boolValue": $0] }
    case .stringArray(let strings): list(strings) { ["stringValue": text($0)] }
    case .stringConvertibleArray(let others): list(others) { ["stringValue": text("\($0)")] }
    default: ["stringValue": ""]
    }
  }

  private static func list<Element>(
    _ elements: [Element], _ value: (Element) -> [String: Any]
  ) -> [String: Any] {
    ["arrayValue": ["values": elements.prefix(TraceLimits.attributes).map(value)]]
  }

  /// JSON has no number that is not finite; protobuf writes such a one as text.
  private static func value(_ number: Double) -> [String: Any] {
    if number.isFinite { return ["doubleValue": number] }
    return ["doubleValue": number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"]
  }

  /// The longest prefix of whole characters within the limit.
  private static func text(_ text: String) -> String {
    guard text.utf8.count > TraceLimits.textLength else { return text }
    var length = 0
    return String(
      text.unicodeScalars.prefix { scalar in
        length += UTF8.width(scalar)
        return length <= TraceLimits.textLength
      })
  }
}
