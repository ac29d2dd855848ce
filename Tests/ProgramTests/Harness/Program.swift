import Foundation

/// The programs of this package, built in the folder of the tests.
enum Program: String {
  case entitled
  case entitlectl
  case storesim
  case entitleLoad = "entitle-load"
  /// The baseline of the read benchmark.
  case bareEcho = "bare-echo"

  /// - Throws: ``HarnessFailure`` when the program is missing.
  var executable: URL {
    get throws {
      // The executable of the tests; its folder has the programs.
      let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      let program = tests.deletingLastPathComponent().appending(path: rawValue)
      guard FileManager.default.isExecutableFile(atPath: program.path) else {
        throw HarnessFailure("\(rawValue) was not built beside the tests")
      }
      return program
    }
  }
}
