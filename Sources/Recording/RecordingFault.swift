import Foundation

/// Why a file cannot be written on.
struct RecordingFault: Error, Equatable {
    /// What was tried.
    let action: String
    /// The system's reason.
    let reason: String

    /// What the system says of the last call that failed.
    static func system(_ action: String, _ number: Int32 = errno) -> RecordingFault {
        let code = POSIXErrorCode(rawValue: number)
        let reason =
            switch code {
            case .ENOSPC, .EDQUOT: "no space is left on the disk"
            case .EFBIG: "the file has reached the largest size that is allowed"
            case .EROFS: "the disk can only be read"
            case .EACCES, .EPERM: "access is denied"
            default: code.map { POSIXError($0).localizedDescription } ?? "error \(number)"
            }
        return RecordingFault(action: action, reason: reason)
    }

    /// Going on would leave too little for the rest of the gateway.
    static let reserveReached = RecordingFault(action: "write", reason: "no space is left on the disk but the reserve")
}

extension RecordingFault: CustomStringConvertible {
    /// What was tried, and why it failed.
    var description: String { "cannot \(action): \(reason)" }
}
