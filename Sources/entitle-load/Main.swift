import LoadClient

@main
enum Main {
  static func main() async {
    await LoadProgram.runAndExit()
  }
}
