import ApplePayToken
import Sandbox
import TenderPayments
import Testing

/// What only Apple's signature protects otherwise: the key itself is asked about key material that nobody signed, as a
/// server that was broken into could ask an agent.
@Suite struct `Key material with one bit changed` {
  private enum Answer: Equatable {
    case key([UInt8])
    case refused(PaymentTokenError.Code)
  }

  @Test(arguments: [TokenVariant.Format.ellipticCurve, .rsa])
  func `gets the same answer in memory and from an agent, and never the token's key`(
    format: TokenVariant.Format
  ) throws {
    let lab = try AttackLab(format)
    let token = try EncryptedPaymentToken(bytes: Array(lab.mint().mint(lab.order()).text.utf8))
    let keys = try KeyHome.allCases.map { try $0.held(lab.processingKey()).holder }
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
      return .key(try holder.contentKey(from: material, within: KeyHome.patience).bytes)
    } catch {
      return .refused(error.code)
    }
  }
}
