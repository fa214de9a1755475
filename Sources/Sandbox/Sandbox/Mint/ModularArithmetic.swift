/// Whole numbers modulo an odd number, after P. Montgomery, *Modular Multiplication Without Trial Division* (1985).
///
/// The sandbox needs it where BoringSSL draws random numbers by itself: tokens that come out of a seed are the same
/// bytes every time. It takes no care of timing, and no secret of a real merchant ever comes near it.
struct ModularArithmetic {
  /// Least significant limb first, as many as the modulus has.
  typealias Number = [UInt64]

  private let modulus: Number
  /// −modulus⁻¹ modulo 2⁶⁴.
  private let factor: UInt64
  /// 2^(128 × limbs) modulo the modulus, which brings a number into Montgomery's form.
  private let square: Number

  /// - Parameter modulus: big-endian, odd, without a leading zero.
  init(modulus: [UInt8]) {
    self.modulus = Self.limbs(modulus)
    factor = Self.negativeInverse(of: self.modulus[0])
    var power = [UInt64](repeating: 0, count: self.modulus.count)
    power[0] = 1
    for _ in 0..<128 * self.modulus.count { power = Self.sum(power, power, self.modulus) }
    square = power
  }

  /// The number that these bytes spell, reduced.
  func number(_ bytes: some Collection<UInt8>) -> Number {
    var result = [UInt64](repeating: 0, count: modulus.count)
    var one = result
    one[0] = 1
    for byte in bytes {
      for bit in (0..<8).reversed() {
        result = Self.sum(result, result, modulus)
        if byte >> bit & 1 == 1 { result = Self.sum(result, one, modulus) }
      }
    }
    return result
  }

  func sum(_ left: Number, _ right: Number) -> Number { Self.sum(left, right, modulus) }

  func product(_ left: Number, _ right: Number) -> Number { reduced(reduced(left, square), right) }

  func power(_ base: Number, _ exponent: [UInt8]) -> Number {
    var one = [UInt64](repeating: 0, count: modulus.count)
    one[0] = 1
    let base = reduced(base, square)
    var result = reduced(one, square)
    for byte in exponent {
      for bit in (0..<8).reversed() {
        result = reduced(result, result)
        if byte >> bit & 1 == 1 { result = reduced(result, base) }
      }
    }
    return reduced(result, one)
  }

  /// The inverse, if the modulus is a prime: Fermat's little theorem.
  func inverse(_ number: Number) -> Number {
    var exponent = modulus
    exponent[0] -= 2
    return power(number, Self.bytes(exponent))
  }

  /// Big-endian, as long as the modulus.
  static func bytes(_ number: Number) -> [UInt8] {
    number.reversed().flatMap { limb in (0..<8).reversed().map { UInt8(truncatingIfNeeded: limb >> (8 * $0)) } }
  }

  private static func limbs(_ bytes: [UInt8]) -> Number {
    stride(from: bytes.count, to: 0, by: -8).map { end in
      bytes[max(0, end - 8)..<end].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// Newton's iteration doubles the right bits each time.
  private static func negativeInverse(of odd: UInt64) -> UInt64 {
    var inverse = odd
    for _ in 0..<6 { inverse = inverse &* (2 &- odd &* inverse) }
    return 0 &- inverse
  }

  /// left × right ÷ 2^(64 × limbs), modulo the modulus.
  private func reduced(_ left: Number, _ right: Number) -> Number {
    let count = modulus.count
    var total = [UInt64](repeating: 0, count: count + 2)
    for index in 0..<count {
      Self.add(left[index], right, into: &total)
      Self.add(total[0] &* factor, modulus, into: &total)
      total.removeFirst()
      total.append(0)
    }
    let isLarge = total[count] != 0 || !Self.isLess(total, modulus)
    return isLarge ? Self.difference(total, modulus) : Array(total.prefix(count))
  }

  /// total += scale × number
  private static func add(_ scale: UInt64, _ number: Number, into total: inout Number) {
    var carry: UInt64 = 0
    for index in number.indices {
      let (high, low) = scale.multipliedFullWidth(by: number[index])
      let (first, overflow) = total[index].addingReportingOverflow(low)
      let (second, again) = first.addingReportingOverflow(carry)
      total[index] = second
      carry = high &+ (overflow ? 1 : 0) &+ (again ? 1 : 0)
    }
    let (sum, overflow) = total[number.count].addingReportingOverflow(carry)
    total[number.count] = sum
    total[number.count + 1] &+= overflow ? 1 : 0
  }

  private static func sum(_ left: Number, _ right: Number, _ modulus: Number) -> Number {
    var carry: UInt64 = 0
    var total = left
    for index in left.indices {
      let (first, overflow) = left[index].addingReportingOverflow(right[index])
      let (second, again) = first.addingReportingOverflow(carry)
      total[index] = second
      carry = (overflow ? 1 : 0) + (again ? 1 : 0)
    }
    return carry != 0 || !isLess(total, modulus) ? difference(total, modulus) : total
  }

  /// Compared limb by limb from the top; what `left` has more than `right` is not looked at.
  private static func isLess(_ left: Number, _ right: Number) -> Bool {
    for index in right.indices.reversed() where left[index] != right[index] { return left[index] < right[index] }
    return false
  }

  private static func difference(_ left: Number, _ right: Number) -> Number {
    var borrow: UInt64 = 0
    return right.indices.map { index in
      let (first, under) = left[index].subtractingReportingOverflow(right[index])
      let (second, again) = first.subtractingReportingOverflow(borrow)
      borrow = (under ? 1 : 0) + (again ? 1 : 0)
      return second
    }
  }
}
