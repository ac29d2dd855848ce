import Foundation

/// The programs of this package, as they were built beside the tests.
enum Program: String {
  case entitled
  case entitlectl
  case storesim
  case entitleLoad = "entitle-load"
  /// What the benchmark compares with.
  case bareEcho = "bare-echo"

  /// - Throws: ``HarnessFailure`` when it was not built.
  var executable: URL {
    get throws {
      // The tests' own executable, wherever the build put it; its folder holds the programs.
      let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      let program = tests.deletingLastPathComponent().appending(path: rawValue)
      guard FileManager.default.isExecutableFile(atPath: program.path) else {
        throw HarnessFailure("\(rawValue) was not built beside the tests")
      }
      return program
    }
  }
}
