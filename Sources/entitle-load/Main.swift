import LoadClient

@main
enum EntitleLoadProgram {
  static func main() async {
    await LoadProgram.runAndExit()
  }
}
