import Glibc

/// How a method's messages flow.
package enum MethodKind: Hashable, Sendable {
  /// One request, one response.
  case unary
  /// One request, any number of messages.
  case serverStreaming
}

/// The methods of a server, found by the bytes of their names without making strings of them.
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

  /// Trivial, so that a search counts no references.
  private struct Slot {
    /// Index into `methods`, negative in an empty slot.
    var index = -1
    /// Where the service's name begins in `names`; the method's follows it.
    var start = 0
    var serviceLength = 0
    var methodLength = 0
  }

  package let methods: [Method]
  private let names: [UInt8]
  /// Open addressing, at most half full, so that a search for an absent name ends soon. What a
  /// peer sends is only looked up, so that it cannot make the table degrade.
  private let slots: [Slot]

  /// - Parameter methods: Each name once; the first of equal names is found.
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

  /// Lengths and three letters tell the methods of a few services apart well enough.
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
