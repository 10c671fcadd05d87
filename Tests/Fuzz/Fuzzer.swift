import Foundation

// libFuzzer of the toolchain calls `LLVMFuzzerTestOneInput` with inputs of growing coverage, and saves those that trap.

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The target that `FOOTLIGHT_FUZZ_TARGET` names.
private let chosen: FuzzTarget? = {
    let name = ProcessInfo.processInfo.environment["FOOTLIGHT_FUZZ_TARGET"] ?? ""
    return FuzzTarget.all.first { $0.name == name }
}()

/// Exported under the name that libFuzzer's own `main` calls.
@_cdecl("LLVMFuzzerTestOneInput")
func feed(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen?.body(FuzzInput(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// Runs the chosen target with libFuzzer's arguments; without one, lists the targets.
func runFuzzer() {
    guard chosen != nil else {
        for target in FuzzTarget.all { print(target.name) }
        return
    }
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(runDriver(&count, &arguments, feed))
}
