/// The picture that a scripted host sends.
public struct HostPicture: Sendable {
    /// Width in pixels, even.
    public var width = 1280
    /// Height in pixels, even.
    public var height = 720
    /// Frames a second, whole or as a fraction such as `30000/1001`.
    public var frameRate = "30"
    /// The colour of the whole picture.
    public var colour: Colour
    /// A white square of an eighth of the height runs from left to right, below the middle.
    public var hasMarker = true
    /// A block in the middle of the picture shows the number of the frame; see `PictureFrame.frameNumber(x:y:width:height:)`.
    public var hasFrameNumber = false
    /// Seconds at the beginning of each second for which the whole picture is white; nil for never.
    public var flash: Double?
    /// B-frames between two others; 0 sends every frame at once.
    public var bFrames = 0
    /// Frames from one key frame to the next.
    public var keyInterval = 60
    /// kb/s.
    public var bitRate = 1500
    /// The pixel format by its name in ffmpeg.
    public var pixelFormat = "yuv420p"
    /// Samples use 0 to 255 instead of 16 to 235, and the stream says so.
    public var isFullRange = false
    /// The samples are BT.709 and the stream says so; otherwise they are BT.601 and the stream says nothing.
    public var isBT709 = false

    /// A picture in one colour with a moving marker, 1280x720 at 30 frames a second.
    public init(_ colour: Colour) {
        self.colour = colour
    }

    /// The graph of ffmpeg's filters that draws the picture.
    var graph: String {
        let size = "size=\(width)x\(height)"
        let name = colour.description.replacing("#", with: "0x")
        var chain = "color=c=\(name):\(size):rate=\(frameRate)"
        if hasMarker {
            // One run takes about four seconds at any frame rate near 30.
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
            // Half a millisecond early, so that a frame time that is not exact never falls on the wrong side.
            chain += ",drawbox=x=0:y=0:w=iw:h=ih:t=fill:color=white:enable='lt(mod(t+0.0005\\,1)\\,\(flash))'"
        }
        if isFullRange || isBT709 {
            chain +=
                ",scale=in_color_matrix=bt601:in_range=tv"
                + ":out_color_matrix=\(isBT709 ? "bt709" : "bt601"):out_range=\(isFullRange ? "pc" : "tv")"
        }
        return chain + ",format=\(pixelFormat)"
    }

    /// What ffmpeg is told about the encoder.
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
