import Glibc

/// The system's words for an error number; `strerror` itself is not safe on several threads.
func describe(errno number: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        guard let base = buffer.baseAddress, strerror_r(number, base, 128) == 0 else { return "error \(number)" }
        return String(cString: base)
    }
}
