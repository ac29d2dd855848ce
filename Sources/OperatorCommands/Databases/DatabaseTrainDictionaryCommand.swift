import ArgumentParser
import EntitlementStore
import Foundation
import PostgresStore
import Programs
import SQLiteStore

struct DatabaseTrainDictionaryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "train-dictionary",
    abstract: "Trains a dictionary for compression on payloads of a database.",
    discussion: """
      Takes payloads of all parts of the database, trains a dictionary on nine tenths of them, and \
      compares it with the present one by the others. Then it adds it to the database: servers \
      write with it within about a minute, and go on reading what was written with others. The \
      server of an SQLite file has to be stopped. With --dry-run nothing is stored. Exit code 2 when \
      there are too few payloads, 3 when the database cannot be reached.
      """)

  @Option(help: "The most payloads to take.")
  var samples = DictionaryTrainer.defaultSamples

  @Flag(
    help: """
      Servers also convert all stored payloads to the new dictionary, in the background.
      """)
  var convert = false

  @Flag(help: "Only train and compare.")
  var dryRun = false

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1...DictionaryTrainer.maximumSamples).contains(samples) else {
      throw ValidationError("--samples is from 1 to \(DictionaryTrainer.maximumSamples)")
    }
  }

  func run() async throws {
    let name = try database.display()
    let choice = try database.choice()
    StandardError.write(TerminalText.escaped("training a dictionary on payloads of \(name)"))
    let report: DictionaryTrainingReport
    do throws(StoreError) {
      switch choice {
      case .sqlite(let path):
        report = try SQLiteDictionaries.train(
          path: path, samples: samples, converts: convert, isDryRun: dryRun)
      case .postgres(let connection):
        report = try await PostgresDictionaries.train(
          connection: connection, samples: samples, converts: convert, isDryRun: dryRun,
          connectTimeout: database.connectTimeout)
      }
    } catch {
      throw database.failure(error)
    }
    try output.write(document: Document(report)) { _ in Self.table(report) }
  }

  /// The JSON form, a documented contract.
  private struct Document: Encodable {
    /// Absent after a dry run.
    let dictionary: UInt32?
    let samples: Int
    let comparedSamples: Int
    let meanBytes: Double
    let meanBytesWithPresent: Double
    let meanBytesWithNew: Double
    let converts: Bool

    init(_ report: DictionaryTrainingReport) {
      dictionary = report.number
      samples = report.samples
      comparedSamples = report.comparedSamples
      meanBytes = Self.tenths(report.meanBytes)
      meanBytesWithPresent = Self.tenths(report.meanBytesWithPresent)
      meanBytesWithNew = Self.tenths(report.meanBytesWithNew)
      converts = report.converts && report.number != nil
    }

    private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
  }

  private static func table(_ report: DictionaryTrainingReport) -> String {
    func text(_ bytes: Double) -> String { String(format: "%.1f", bytes) }
    var table = TextTable(
      header: ["DICTIONARY", "SAMPLES", "COMPARED", "MEAN BYTES", "WITH PRESENT", "WITH NEW"])
    table.add([
      report.number.map { "\($0)" } ?? "-", "\(report.samples)", "\(report.comparedSamples)",
      text(report.meanBytes), text(report.meanBytesWithPresent), text(report.meanBytesWithNew),
    ])
    return table.text
  }
}
