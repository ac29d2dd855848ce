import EntitlementDomain
import StoreSimulator
import Testing
import Verification

@Suite("The device of a receipt")
struct ReceiptDeviceTests {
  private static let receipt: SimulatedReceipt = {
    var receipt = SimulatedReceipt(
      receiptType: "ProductionSandbox", bundleID: "com.example.scribe",
      creationDate: ReceiptWorkshop.creationDate)
    receipt.deviceIdentifier = Array(1...16)
    return receipt
  }()

  @Test func `a receipt is of the device that it was made for`() throws {
    let receipt = try ReceiptWorkshop.authority.sign(Self.receipt)
    let verifier = ReceiptWorkshop.verifier
    #expect(verdict(verifier, receipt) == .ok)
    #expect(verdict(verifier, receipt, device: Self.receipt.deviceIdentifier) == .ok)
    for index in 0..<16 {
      var other = Self.receipt.deviceIdentifier
      other[index] ^= 1
      #expect(verdict(verifier, receipt, device: other) == .wrongDevice)
    }
    #expect(verdict(verifier, receipt, device: []) == .wrongDevice)
    #expect(verdict(verifier, receipt, device: Array(1...15)) == .wrongDevice)
    let long = [UInt8](repeating: 1, count: VerificationLimits.deviceIdentifierLength + 1)
    #expect(verdict(verifier, receipt, device: long) == .wrongDevice)
  }

  @Test func `bytes do not move between the parts of the hash`() throws {
    // The device and the opaque value together are the same bytes.
    let receipt = try ReceiptWorkshop.authority.sign(Self.receipt)
    let longer = Self.receipt.deviceIdentifier + Self.receipt.opaqueValue
    #expect(verdict(ReceiptWorkshop.verifier, receipt, device: longer) == .wrongDevice)
  }

  @Test func `a receipt without a hash is of no device`() throws {
    let receipt = try ReceiptWorkshop.sign()
    #expect(verdict(ReceiptWorkshop.verifier, receipt, device: Array(1...16)) == .wrongDevice)
    let empty = try ReceiptWorkshop.sign(
      ReceiptWorkshop.content.adding(.init(type: 5, value: [])))
    #expect(verdict(ReceiptWorkshop.verifier, empty, device: Array(1...16)) == .wrongDevice)
  }

  @Test func `the device is the last that is asked for`() throws {
    let receipt = try ReceiptWorkshop.sign(
      ReceiptWorkshop.content.with(.text(0, "Production")))
    #expect(
      verdict(ReceiptWorkshop.verifier, receipt, device: [1]) == .wrongEnvironment)
  }
}
