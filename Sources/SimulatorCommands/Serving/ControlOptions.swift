import ArgumentParser
import Foundation
import Programs
import StoreSimulator
import StoreSimulatorServer

/// The options of commands that act on a running simulator.
struct ControlOptions: ParsableArguments {
  @Option(
    name: .customLong("server"),
    help: ArgumentHelp("Address of the running `storesim serve`.", valueName: "url"))
  var url = "http://127.0.0.1:7190"

  @Flag(help: "Print the answer as JSON.")
  var json = false

  /// Calls the control interface.
  ///
  /// - Parameter path: what follows `/control/`.
  /// - Throws: ``CommandFailure``.
  func call(
    _ method: String, _ path: String, _ body: JSONObjectWriter? = nil
  ) async throws(CommandFailure) -> [UInt8] {
    do throws(ControlClient.Failure) {
      return try await ControlClient(base: url).call(method, path, body)
    } catch {
      switch error {
      case .unreachable(let text): throw CommandFailure(.unreachable, text)
      case .refused(let status, let text):
        let reason = try? JSONDecoder().decode(ControlRefusal.self, from: Data(text.utf8)).error
        throw CommandFailure(
          status < 500 ? .refused : .failed, reason ?? "the simulator answered with \(status)")
      }
    }
  }

  /// Calls, and prints the answer: as it is, or as a text.
  func run<Answer: Decodable>(
    _ method: String, _ path: String, _ body: JSONObjectWriter? = nil,
    text: (Answer) -> String
  ) async throws {
    let answer = try await call(method, path, body)
    if json { return try SimulatorOutput.print(String(decoding: answer, as: UTF8.self)) }
    try SimulatorOutput.print(text(try Self.decode(answer)))
  }

  static func decode<Answer: Decodable>(_ bytes: [UInt8]) throws(CommandFailure) -> Answer {
    do {
      return try JSONDecoder().decode(Answer.self, from: Data(bytes))
    } catch {
      throw CommandFailure(.failed, "the answer is not that of a storesim of this version")
    }
  }

  /// A text as a part of a path.
  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
  }
}

private struct ControlRefusal: Decodable {
  let error: String
}

/// The answer to an action.
struct ActionAnswer: Decodable {
  struct Transaction: Decodable {
    let transactionId: String
    let originalTransactionId: String
    let productId: String
    let orderId: String
  }

  struct Notification: Decodable {
    let notificationType: String
    let subtype: String?
    let sendAttemptResult: String?
  }

  let customer: String
  let transactions: [Transaction]
  let notifications: [Notification]

  /// A line for the customer, and one for each transaction and notification.
  var text: String {
    var lines = [customer]
    lines += transactions.map { transaction in
      "  transaction \(transaction.transactionId), original \(transaction.originalTransactionId), "
        + "order \(transaction.orderId): \(transaction.productId)"
    }
    lines += notifications.map { notification in
      let name = [notification.notificationType, notification.subtype].compactMap { $0 }
      return "  notification \(name.joined(separator: " ")): "
        + (notification.sendAttemptResult ?? "not sent")
    }
    return lines.joined(separator: "\n")
  }
}
