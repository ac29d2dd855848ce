import Glibc

/// Whether a method answers with one message or with a stream.
package enum MethodKind: Hashable, Sendable {
  /// One request, one response.
  case unary
  /// One request, any number of messages.
  case serverStreaming
}

/// The methods of a server: a hash table that is searched by the bytes of a request's names,
/// without creating strings.
package struct MethodTable: Sendable {
  package struct Method: Hashable, Sendable {
    /// The full proto name, such as `grpc.health.v1.Health`.
    package var service: String
    package var method: String
    package var kind: MethodKind

    package init(service: String, method: String, kind: MethodKind) {
      self.service = service
      self.method = method
      self.kind = kind
    }
  }

  /// A trivial type, so that a search does no reference counting.
  private struct Slot {
    /// The index into `methods`; negative in an empty slot.
    var index = -1
    /// The position of the service name in `names`. The method name follows it.
    var start = 0
    var serviceLength = 0
    var methodLength = 0
  }

  package let methods: [Method]
  private let names: [UInt8]
  /// Open addressing, at most half full, so that a search for an unknown name ends soon. Peers
  /// cannot degrade the table, as their names are never inserted.
  private let slots: [Slot]

  /// - Parameter methods: Must have distinct names. Of equal names, the first is found.
  package init(_ methods: [Method]) {
    var capacity = 8
    while capacity < methods.count * 2 {
      capacity *= 2
    }
    var names: [UInt8] = []
    var slots = [Slot](repeating: Slot(), count: capacity)
    for (index, method) in methods.enumerated() {
      let service = Array(method.service.utf8)
      let name = Array(method.method.utf8)
      var position = service.withUnsafeBytes { service in
        name.withUnsafeBytes { Self.hash(service, $0) & (capacity - 1) }
      }
      while slots[position].index >= 0 {
        position = (position + 1) & (capacity - 1)
      }
      slots[position] = Slot(
        index: index, start: names.count, serviceLength: service.count, methodLength: name.count)
      names += service
      names += name
    }
    self.methods = methods
    self.names = names
    self.slots = slots
  }

  /// The index into ``methods`` of the method that a request names.
  package func index(of request: RequestEnvelope) -> Int? {
    request.withNames { service, method in
      names.withUnsafeBytes { index(service: service, method: method, in: $0) }
    }
  }

  private func index(
    service: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer,
    in names: UnsafeRawBufferPointer
  ) -> Int? {
    let mask = slots.count - 1
    var position = Self.hash(service, method) & mask
    while true {
      let slot = slots[position]
      if slot.index < 0 {
        return nil
      }
      if slot.serviceLength == service.count, slot.methodLength == method.count {
        let methodStart = slot.start + slot.serviceLength
        if Self.isEqual(names[slot.start..<methodStart], service),
          Self.isEqual(names[methodStart..<methodStart + slot.methodLength], method)
        {
          return slot.index
        }
      }
      position = (position + 1) & mask
    }
  }

  private static func isEqual(
    _ name: Slice<UnsafeRawBufferPointer>, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    let name = UnsafeRawBufferPointer(rebasing: name)
    guard let left = name.baseAddress, let right = bytes.baseAddress else {
      return name.count == bytes.count
    }
    return name.count == bytes.count && memcmp(left, right, bytes.count) == 0
  }

  /// Hashes the lengths and three letters: enough to distinguish the methods of a few services.
  private static func hash(
    _ service: UnsafeRawBufferPointer, _ method: UnsafeRawBufferPointer
  ) -> Int {
    var hash = service.count &* 31 &+ method.count
    if let first = method.first, let last = method.last {
      hash = hash &* 31 &+ Int(first)
      hash = hash &* 31 &+ Int(method[method.count / 2])
      hash = hash &* 31 &+ Int(last)
    }
    return hash ^ (hash >> 7)
  }
}
