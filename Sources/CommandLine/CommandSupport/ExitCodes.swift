package import ArgumentParser
import Foundation
import Storage
import TenderPayments

extension ParsableCommand {
  /// Runs the command of this program that the arguments name. Exit code 1 for a refusal or failure, with one line that
  /// says why; 2 for wrong arguments, which is 64 in ArgumentParser.
  ///
  /// - Parameter others: commands that another program has, which a misspelt name may mean.
  package static func runProgram(besides others: [String] = []) async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let error = SecretArguments.error(in: arguments) ?? CommandNames.error(in: arguments, of: self, besides: others)
    {
      Terminal.sayError(error, exitCode: 2)
      Foundation.exit(2)
    }
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      leave(with: error)
    }
  }

  private static func leave(with error: any Error) -> Never {
    let code = exitCode(for: error)
    if code == .validationFailure {
      if Terminal.printsJSON { Terminal.sayError(message(for: error), exitCode: 2) }
      if !Terminal.printsJSON { Terminal.sayError(fullMessage(for: error)) }
      Foundation.exit(2)
    }
    guard code == .failure, !(error is ExitCode) else { exit(withError: error) }
    let number: Int32 = error is MistakenCall || isMissingFile(error) ? 2 : 1
    Terminal.sayError(ErrorLine.text(for: error), exitCode: number)
    Foundation.exit(number)
  }

  /// Whether a file that the call names is not there.
  private static func isMissingFile(_ error: any Error) -> Bool {
    let path: String? =
      switch error {
      case let error as CocoaError where error.code == .fileReadNoSuchFile: error.filePath
      case let error as PrivateFileError where !FileManager.default.fileExists(atPath: error.path): error.path
      default: nil
      }
    guard let path else { return false }
    return CommandLine.arguments.dropFirst().contains { $0.utf8.elementsEqual(path.utf8) || $0.hasSuffix("=" + path) }
  }
}

/// Arguments that may be private keys, so that no message may repeat them.
private enum SecretArguments {
  /// What to say of an argument that is what a file holds and not its name: PEM, a key or certificate in base64, a
  /// payment token. Neither ArgumentParser nor a message that a file is not there may repeat it, because it can be a
  /// private key.
  static func error(in arguments: [String]) -> String? {
    let values = zip([""] + arguments, arguments).map { before, argument -> (option: String, value: String) in
      let parts = argument.hasPrefix("-") ? argument.split(separator: "=", maxSplits: 1) : []
      return parts.count == 2 ? (String(parts[0]), String(parts[1])) : (before, argument)
    }
    let takesFiles = !namesNoContents.contains(arguments.first ?? "")
    let isPEM = arguments.contains { $0.contains("-----BEGIN") }
    if isPEM || takesFiles && values.contains(where: { isContents($0.value) }) {
      return "an argument is what a file holds, and not its name; name the file, or - for standard input"
    }
    let count = ["token", "certificate"].contains(arguments.first) ? values.count : 1
    guard values.prefix(count).contains(where: { !namesNoFile.contains($0.option) && isBareKey($0.value) }) else {
      return nil
    }
    return
      "an argument looks like a bare key, in hexadecimal or base64, and not like a file's name; write the key into "
      + "a file as PEM, and name that"
  }

  /// Commands that take references, reasons and names: none of them reads a key or a payment token from a file.
  private static let namesNoContents: Set = ["payment", "webhooks", "link", "user", "route", "mail"]

  /// Options whose values may look like a key.
  private static let namesNoFile: Set = ["--merchant-id", "--application-data", "--sandbox", "--merchant"]

  /// 32 bytes or more in hexadecimal, or in base64 of either alphabet.
  private static func isBareKey(_ value: String) -> Bool {
    guard !FileManager.default.fileExists(atPath: value) else { return false }
    let digits = (value.hasPrefix("0x") ? value.dropFirst(2) : value[...]).filter { $0 != ":" && !$0.isWhitespace }
    let base64 = digits.filter { $0 != "=" }.replacing("-", with: "+").replacing("_", with: "/")
    return digits.utf8.count >= 64 && Hex.decode(digits) != nil || Base64.decode(base64 + "=")?.count == 32
  }

  private static func isContents(_ value: String) -> Bool {
    guard value.utf8.count > 64, !FileManager.default.fileExists(atPath: value) else { return false }
    // Settings may be long.
    let isLong = value.utf8.count > 400 && CommandLine.arguments.dropFirst().first == "token"
    // Padding stands at the end of base64; a setting has its value behind the equals sign.
    let digits = value.prefix { $0 != "=" }
    let isEncoded =
      digits.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+/_-\n".contains($0)) }
      && value.dropFirst(digits.count).allSatisfy { "=\n".contains($0) }
    return isLong || isEncoded || value.hasPrefix("{") || value.hasPrefix("data:")
  }
}
