/// The sound that a scripted host sends.
public struct HostSound: Sendable {
    /// What is heard.
    public enum Kind: Sendable {
        /// A steady tone of this frequency in Hz.
        case tone(Double)
        /// A tone of this frequency in Hz for the first `length` seconds of each second.
        case beep(Double, length: Double)
        /// Nothing, sent as sound.
        case silence
    }

    /// What is heard.
    public var kind: Kind
    /// The peak of the wave, 1 being full scale.
    public var amplitude = 0.25
    /// Samples a second.
    public var sampleRate = 48_000
    /// 1, 2 or 6 channels, with the same wave in each.
    public var channels = 2
    /// kb/s of the AAC stream.
    public var bitRate = 96

    /// A stereo sound of 48000 samples a second.
    public init(_ kind: Kind) {
        self.kind = kind
    }

    /// A steady tone of this frequency in Hz.
    public static func tone(_ frequency: Double) -> HostSound {
        HostSound(.tone(frequency))
    }

    /// The graph of ffmpeg's filters that makes the sound.
    var graph: String {
        let wave =
            switch kind {
            case .tone(let frequency): "\(amplitude)*sin(2*PI*\(frequency)*t)"
            case .beep(let frequency, let length): "\(amplitude)*sin(2*PI*\(frequency)*t)*lt(mod(t\\,1)\\,\(length))"
            case .silence: "0"
            }
        let layout = [1: "mono", 2: "stereo", 6: "5.1"][channels] ?? "\(channels)c"
        let waves = Array(repeating: wave, count: channels).joined(separator: "|")
        return "aevalsrc=exprs='\(waves)':s=\(sampleRate):c=\(layout)"
    }

    /// What ffmpeg is told about the encoder.
    var encoderArguments: [String] {
        ["-c:a", "aac", "-b:a", "\(bitRate)k"]
    }
}
