import ApplePayToken
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// Unsigned key material, given to the key directly, as a compromised server could give it to an agent.
@Suite struct `Key material with one bit changed` {
  private enum Answer: Equatable {
    case key([UInt8])
    case refused(PaymentTokenError.Code)
  }

  @Test(arguments: [TokenVariant.Format.ellipticCurve, .rsa])
  func `gets the same answer in memory and from an agent, and never the token's key`(
    format: TokenVariant.Format
  ) throws {
    let setup = try AttackSetup(format)
    let token = try EncryptedPaymentToken(bytes: Array(setup.issuer().issue(setup.order()).text.utf8))
    let keys = try KeyLocation.allCases.map { try $0.held(setup.processingKey()).holder }
    let right = ask(keys[0], token.keyMaterial)
    #expect(ask(keys[1], token.keyMaterial) == right)
    var answers: [Answer] = []
    for bit in stride(from: 0, to: token.keyMaterial.bytes.count * 8, by: Effort.stride) {
      let changed = TokenField.keyMaterial.flipping(bit, in: token).keyMaterial
      let answer = ask(keys[0], changed)
      #expect(ask(keys[1], changed) == answer, "bit \(bit)")
      answers.append(answer)
    }
    // A point that happens to lie on the curve would give another key; nothing else may.
    #expect(!answers.contains(right))
    let refused: PaymentTokenError.Code = format == .rsa ? .badWrappedKey : .badEphemeralKey
    #expect(answers.allSatisfy { $0 == .refused(refused) }, "a point with one coordinate changed is off the curve")
  }

  private func ask(_ holder: any ProcessingKeyHolder, _ material: EncryptedPaymentToken.KeyMaterial) -> Answer {
    do {
      return .key(try holder.contentKey(from: material, within: TestRun.whole).bytes)
    } catch {
      return .refused(error.code)
    }
  }
}
