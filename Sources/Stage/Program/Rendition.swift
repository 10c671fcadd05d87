/// The program once more in a smaller size, for viewers and outputs with less bandwidth.
public struct Rendition: Sendable, Hashable, Codable {
    /// Such as `720p`, unique within its program; `[A-Za-z0-9-]{1,16}`, for `ROOM_720p` is where it is played.
    public var name: String
    /// Pixels across, even, 160 to the program's.
    public var width: Int
    /// Pixels down, even, 90 to the program's.
    public var height: Int
    /// Pictures per second, the program's divided by a whole number; nil for the program's.
    public var frameRate: FrameRate?
    /// Video bits per second in thousands, 10 to 10 000.
    public var videoBitrate: Int

    /// Makes a rendition; nothing is checked before `RenditionLadder.validate(in:)`.
    public init(name: String, width: Int, height: Int, frameRate: FrameRate? = nil, videoBitrate: Int) {
        self.name = name
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.videoBitrate = videoBitrate
    }

    /// A rendition of a usual size, which in a program that stands upright does so too.
    public init(_ quality: ProgramQuality, isUpright: Bool = false) {
        self.init(
            name: quality.rawValue,
            width: isUpright ? quality.height : quality.width,
            height: isUpright ? quality.width : quality.height,
            videoBitrate: quality.videoBitrate
        )
    }

    /// One picture of so many of the program's is in the rendition; nil when its rate does not divide the program's.
    public func step(in program: ProgramConfiguration) -> Int? {
        guard let frameRate else { return 1 }
        let (numerator, denominator) = (
            program.frameRate.numerator * frameRate.denominator, program.frameRate.denominator * frameRate.numerator
        )
        guard denominator > 0, numerator >= denominator, numerator % denominator == 0 else { return nil }
        return numerator / denominator
    }
}
