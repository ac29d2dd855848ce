import EntitlementDomain
import EntitlementService
import NIOCore
import Wire

/// Encodes and decodes states as the front does.
enum StateCoding {
  @Sendable
  static func encode(_ state: CustomerState) throws(ServiceError) -> EncodedState {
    do {
      return EncodedState(try GetCustomerStateResponse.state(state).encoded())
    } catch {
      throw ServiceError(.internalFault, "the state does not fit a message: \(error)")
    }
  }

  struct NoState: Error {}

  static func decode(_ bytes: ByteBuffer) throws -> CustomerState {
    guard case .state(let state) = try GetCustomerStateResponse.decode(from: bytes) else {
      throw NoState()
    }
    return state
  }
}

extension CustomerAnswer {
  var state: CustomerState {
    get throws { try StateCoding.decode(encoded.bytes) }
  }

  /// For readers that encode a state as a string.
  var text: String { String(buffer: encoded.bytes) }
}

extension WatchItem {
  var decodedState: CustomerState? { state.flatMap { try? $0.state } }
}

extension ReadLimits {
  static let forTests = ReadLimits(permits: 8)
}

extension CustomerReader {
  /// The answers to a batch, from memory or from the store.
  func answers(
    to selectors: [CustomerSelector], in scope: AppScope,
    consistency: Consistency = .minimizeLatency
  ) async throws -> [CustomerAnswer] {
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<[CustomerAnswer], ServiceError>, Never>) in
      do throws(ServiceError) {
        let cached = try answers(
          to: BatchQuery(selectors: selectors, scope: scope, consistency: consistency), on: nil,
          orFinish: { continuation.resume(returning: $0) }, isWaiting: { true })
        if let cached { continuation.resume(returning: .success(cached)) }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }
}
