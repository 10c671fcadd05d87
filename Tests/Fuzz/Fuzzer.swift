import Foundation

// libFuzzer, as the toolchain has it: it calls `LLVMFuzzerTestOneInput` with bytes that reach ever more of the code, and
// leaves those behind with which that ended in a trap.

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// What `FOOTLIGHT_FUZZ_TARGET` names.
private let chosen: FuzzTarget? = {
    let name = ProcessInfo.processInfo.environment["FOOTLIGHT_FUZZ_TARGET"] ?? ""
    return FuzzTarget.all.first { $0.name == name }
}()

/// Also by the name that libFuzzer's own `main` calls, which is linked beside ours.
@_cdecl("LLVMFuzzerTestOneInput")
func feed(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen?.body(FuzzInput(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// Runs the chosen target with libFuzzer's own arguments; without one, says which there are.
func runFuzzer() {
    guard chosen != nil else {
        for target in FuzzTarget.all { print(target.name) }
        return
    }
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(runDriver(&count, &arguments, feed))
}
