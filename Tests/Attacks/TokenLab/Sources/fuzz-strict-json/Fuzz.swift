import StrictJSON

/// Whatever is read can be written, and then reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let value = try? JSONReader.read(bytes) else { return 0 }
  guard let again = try? JSONReader.read(value.serialized()), again == value else { fatalError("another value") }
  return 0
}
