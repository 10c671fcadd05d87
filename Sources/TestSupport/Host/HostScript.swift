/// The media of a scripted host: video, audio, or both.
public struct HostScript: Sendable {
    /// The video; nil for an audio-only host.
    public var video: HostVideoScript?
    /// The audio; nil for a video-only host.
    public var audio: HostAudioScript?

    /// Creates a script from its parts.
    public init(video: HostVideoScript?, audio: HostAudioScript?) {
        self.video = video
        self.audio = audio
    }

    /// Creates a host with one colour, a moving marker and a steady tone.
    public init(_ colour: Colour, tone frequency: Double) {
        self.init(video: HostVideoScript(colour), audio: .tone(frequency))
    }

    /// Returns a host that flashes white and beeps at 1 kHz at the beginning of each second.
    public static func flashAndBeep(length: Double = 0.1, frequency: Double = 1000) -> HostScript {
        var video = HostVideoScript(.black)
        video.hasMarker = false
        video.flash = length
        return HostScript(video: video, audio: HostAudioScript(.beep(frequency, length: length)))
    }

    /// Returns the input and encoder arguments for ffmpeg.
    ///
    /// - Parameter isRealTime: Whether inputs are read in real time instead of as fast as possible.
    func arguments(isRealTime: Bool) -> [String] {
        let pace = isRealTime ? ["-re"] : []
        var arguments: [String] = []
        for graph in [video?.graph, audio?.graph] {
            if let graph { arguments += pace + ["-f", "lavfi", "-i", graph] }
        }
        return arguments + (video?.encoderArguments ?? []) + (audio?.encoderArguments ?? [])
    }
}

/// The video of a scripted host.
public struct HostVideoScript: Sendable {
    /// The width in pixels, even.
    public var width = 1280
    /// The height in pixels, even.
    public var height = 720
    /// Frames per second, as an integer or a fraction such as `30000/1001`.
    public var frameRate = "30"
    /// The background colour.
    public var colour: Colour
    /// Whether a white square of an eighth of the height moves from left to right below the centre.
    public var hasMarker = true
    /// Whether a block in the centre encodes the frame number; see `RGBFrame.frameNumber(x:y:width:height:)`.
    public var hasFrameNumber = false
    /// The seconds at the beginning of each second for which the frame is white; nil for none.
    public var flash: Double?
    /// The number of consecutive B-frames; 0 also disables encoder delay.
    public var bFrames = 0
    /// The keyframe interval in frames.
    public var keyInterval = 60
    /// The bit rate in kb/s.
    public var bitRate = 1500
    /// The pixel format by its ffmpeg name.
    public var pixelFormat = "yuv420p"
    /// Whether samples use 0 to 255 instead of 16 to 235, signalled in the stream.
    public var isFullRange = false
    /// Whether samples use BT.709, signalled in the stream; otherwise BT.601 without signalling.
    public var isBT709 = false

    /// Creates a single-colour video with a moving marker, 1280x720 at 30 fps.
    public init(_ colour: Colour) {
        self.colour = colour
    }

    /// The ffmpeg filter graph that generates the video.
    var graph: String {
        let size = "size=\(width)x\(height)"
        let name = colour.description.replacing("#", with: "0x")
        var chain = "color=c=\(name):\(size):rate=\(frameRate)"
        if hasMarker {
            // One pass takes about four seconds at frame rates near 30.
            let side = height / 8 / 2 * 2
            chain +=
                "[ground];color=c=white:size=\(side)x\(side):rate=\(frameRate)[marker];"
                + "[ground][marker]overlay=x='mod(n*\(max(width / 128, 1))\\,W-w)':y=\(height * 3 / 4 / 2 * 2)"
        }
        if hasFrameNumber {
            for cell in FrameNumberBlock(width: width, height: height).cells {
                let area = "x=\(cell.x):y=\(cell.y):w=\(cell.side):h=\(cell.side):t=fill"
                chain += ",drawbox=\(area):color=black"
                chain += ",drawbox=\(area):color=white:enable='mod(floor(n/\(1 << cell.bit))\\,2)'"
            }
        }
        if let flash {
            // Half a millisecond early, so that an inexact frame time is never rounded to the wrong side.
            chain += ",drawbox=x=0:y=0:w=iw:h=ih:t=fill:color=white:enable='lt(mod(t+0.0005\\,1)\\,\(flash))'"
        }
        if isFullRange || isBT709 {
            chain +=
                ",scale=in_color_matrix=bt601:in_range=tv"
                + ":out_color_matrix=\(isBT709 ? "bt709" : "bt601"):out_range=\(isFullRange ? "pc" : "tv")"
        }
        return chain + ",format=\(pixelFormat)"
    }

    /// The encoder arguments for ffmpeg.
    var encoderArguments: [String] {
        var arguments = ["-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", "-pix_fmt", pixelFormat]
        arguments += bFrames == 0 ? ["-tune", "zerolatency"] : ["-bf", "\(bFrames)", "-b_strategy", "0"]
        arguments += ["-g", "\(keyInterval)", "-keyint_min", "\(keyInterval)", "-sc_threshold", "0"]
        arguments += ["-b:v", "\(bitRate)k", "-maxrate", "\(bitRate)k", "-bufsize", "\(bitRate)k"]
        if isFullRange { arguments += ["-color_range", "pc"] }
        if isBT709 { arguments += ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"] }
        return arguments
    }
}

/// The audio of a scripted host.
public struct HostAudioScript: Sendable {
    /// The signal.
    public enum Kind: Sendable {
        /// A steady tone with this frequency in Hz.
        case tone(Double)
        /// A tone with this frequency in Hz for the first `length` seconds of each second.
        case beep(Double, length: Double)
        /// Digital silence.
        case silence
    }

    /// The signal.
    public var kind: Kind
    /// The peak amplitude; 1 is full scale.
    public var amplitude = 0.25
    /// The sample rate in Hz.
    public var sampleRate = 48_000
    /// The number of channels, 1, 2 or 6, all with the same signal.
    public var channels = 2
    /// The AAC bit rate in kb/s.
    public var bitRate = 96

    /// Creates stereo audio at 48 kHz.
    public init(_ kind: Kind) {
        self.kind = kind
    }

    /// Returns a steady tone with this frequency in Hz.
    public static func tone(_ frequency: Double) -> HostAudioScript {
        HostAudioScript(.tone(frequency))
    }

    /// The ffmpeg filter graph that generates the audio.
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

    /// The encoder arguments for ffmpeg.
    var encoderArguments: [String] {
        ["-c:a", "aac", "-b:a", "\(bitRate)k"]
    }
}
