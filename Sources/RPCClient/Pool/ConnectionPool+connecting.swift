import NIOCore
import Wire

// How connections are made and closed.
extension ConnectionPool {
  /// Makes the first connection, to the first server that can be reached.
  ///
  /// - Throws: ``RPCClientError`` with `unreachable` when none can.
  func connectFirst() async throws(RPCClientError) {
    var failure = RPCClientError.noAddress
    for slot in addresses.indices where startConnecting(slot) {
      do throws(RPCClientError) {
        return connected(slot, try await connection(to: slot))
      } catch {
        connectFailed(slot, error)
        failure = error
      }
    }
    throw failure
  }

  func connect(_ slot: Int, to address: Int) async {
    do throws(RPCClientError) {
      connected(slot, try await connection(to: address))
    } catch {
      connectFailed(slot, error)
    }
  }

  /// - Parameters:
  ///   - address: its index.
  ///   - deadline: of the call that it is for.
  func connection(
    to address: Int, until deadline: NIODeadline = .distantFuture
  ) async throws(RPCClientError) -> RPCConnection {
    let rest = deadline.rest(at: .now()) ?? connectTimeout
    if rest <= .zero { throw .deadlineExceeded.unsent }
    do throws(RPCClientError) {
      return try await RPCConnection.connect(
        to: addresses[address], connectTimeout: min(connectTimeout, rest), limits: limits,
        eventLoopGroup: eventLoopGroup)
    } catch {
      throw deadline <= .now() ? .deadlineExceeded.unsent : error
    }
  }

  private func startConnecting(_ slot: Int) -> Bool {
    decide { state, _ in state.connectionStarted(slot: slot) }
  }

  private func connected(_ slot: Int, _ connection: RPCConnection) {
    let member = decide { state, actions in
      state.connected(slot: slot, connection, now: .now(), &actions)
    }
    guard let member else { return }
    connection.onClose { [weak self] in
      self?.decide { state, actions in
        state.connectionClosed(member, now: .now(), &actions)
      }
    }
  }

  private func connectFailed(_ slot: Int, _ error: RPCClientError) {
    decide { state, actions in
      state.connectFailed(slot: slot, error, now: .now(), &actions)
    }
  }
}
