import CFFmpeg

/// Why a codec refused: a stable code to match on, and words for people.
public struct CodecError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, stable across versions.
    public enum Code: String, Sendable {
        /// The codec, or an option of it, does not exist in the installed libraries.
        case unavailable
        /// A decoder configuration or an encoder setting makes no sense.
        case badConfiguration
        /// The packet is not of the kind this codec takes.
        case wrongPacket
        /// The coded data is damaged; the next packet may be fine.
        case badData
        /// The frame is larger than `FrameLimits` allows.
        case tooLarge
        /// A frame or sample was handed in whose time is not after the one before it.
        case outOfOrder
        /// The rectangle is empty or leaves the canvas.
        case badRectangle
        /// Memory ran out.
        case outOfMemory
        /// The library failed in another way.
        case failed
    }

    /// The kind of failure, to match on.
    public let code: Code
    /// What was being done, and what the library says about it.
    public let message: String
    /// The library's own error number (negative), when it gave one.
    public let cause: Int32?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        cause = nil
    }

    /// The error for a negative return value of libav*.
    init(_ status: Int32, doing: String) {
        code = Self.code(of: status)
        message = "\(doing): \(Self.text(of: status))"
        cause = status
    }

    /// The error for a negative return value of a decoder: whatever number it chose, the data was to blame.
    init(_ status: Int32, decoding: String) {
        code = status == c_averror_enomem ? .outOfMemory : .badData
        message = "decoding \(decoding): \(Self.text(of: status))"
        cause = status
    }

    /// The same codec may succeed with the next packet; when false it has to be made anew, with other settings.
    public var isRetryable: Bool {
        switch code {
        case .badData, .outOfOrder, .tooLarge, .wrongPacket, .outOfMemory, .badRectangle: true
        case .unavailable, .badConfiguration, .failed: false
        }
    }

    /// Code and message in one line.
    public var description: String { "\(code.rawValue): \(message)" }

    private static func code(of status: Int32) -> Code {
        switch status {
        case c_averror_invaliddata: .badData
        case c_averror_enomem: .outOfMemory
        case c_averror_einval: .badConfiguration
        case c_averror_option_not_found, c_averror_encoder_not_found, c_averror_decoder_not_found: .unavailable
        default: .failed
        }
    }

    private static func text(of status: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, av_strerror(status, start, buffer.count) == 0 else {
                return "error \(status)"
            }
            return String(cString: start)
        }
    }
}
