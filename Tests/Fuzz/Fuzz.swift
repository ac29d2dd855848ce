import Foundation
import FuzzTargets

/// libFuzzer's own entry point, with our arguments in front of its.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ testOneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Set once, before the fuzzer starts; its inputs then come one after the other, on one thread.
nonisolated(unsafe) private var target = FuzzTarget.json

/// What libFuzzer calls with each input; its library asks for one of this name.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try target.run(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    // A trap is what a fuzzer takes for a finding.
    fatalError("\(target.rawValue): \(error)")
  }
  return 0
}

@main
struct Fuzz {
  private static let usage = """
    Usage: fuzz --write-corpus FOLDER
           fuzz TARGET [OPTION OF LIBFUZZER | FOLDER OF INPUTS | INPUT]...

    Targets: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))

    --write-corpus   writes FOLDER/TARGET/NAME, the seeds, and FOLDER/TARGET.dict, the words,
                     of each target

    """

  static func main() {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "--write-corpus" where arguments.count == 3:
      do {
        try writeCorpus(to: URL(filePath: arguments[2]))
      } catch {
        end("cannot write the corpus: \(error.localizedDescription)\n", status: 1)
      }
    case "--help":
      print(usage, terminator: "")
    case let name?:
      guard let named = FuzzTarget(rawValue: name) else { end(usage, status: 64) }
      target = named
      run()
    case nil:
      end(usage, status: 64)
    }
  }

  /// libFuzzer sees the arguments without the target's name.
  private static func run() -> Never {
    var count = CommandLine.argc - 1
    var arguments = CommandLine.unsafeArgv
    // In place of the name comes the program's, which libFuzzer starts again for some options.
    arguments[1] = arguments[0]
    arguments += 1
    exit(runFuzzer(&count, &arguments, testOneInput))
  }

  private static func writeCorpus(to folder: URL) throws {
    for target in FuzzTarget.allCases {
      let seeds = folder.appending(path: target.rawValue)
      try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
      for seed in target.seeds {
        try Data(seed.bytes).write(to: seeds.appending(path: seed.name))
      }
      try Data(target.dictionary.file.utf8)
        .write(to: folder.appending(path: "\(target.rawValue).dict"))
    }
  }

  private static func end(_ message: String, status: CInt) -> Never {
    FileHandle.standardError.write(Data(message.utf8))
    exit(status)
  }
}
