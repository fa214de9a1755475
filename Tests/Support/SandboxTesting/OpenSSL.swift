import TenderTesting

/// Runs OpenSSL, which checks the sandbox independently.
package func openssl(_ arguments: String..., input: [UInt8] = []) throws -> (status: Int32, output: String) {
  try openssl(arguments, input: input)
}

package func openssl(_ arguments: [String], input: [UInt8] = []) throws -> (status: Int32, output: String) {
  let (status, output) = try ChildProcess.run(["openssl"] + arguments, input: input)
  return (status, String(decoding: output, as: UTF8.self))
}
