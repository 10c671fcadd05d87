/// What one connection of a host may send at most, after the host's call settings.
public struct PublishLimits: Sendable, Hashable {
    /// Picture and sound together, in kb/s; nil for no limit of its own.
    public let bitrate: Int?
    /// The longer edge of a picture, in pixels; nil for no limit of its own.
    public let longerSide: Int?
    /// The shorter edge of a picture, in pixels; nil for no limit of its own.
    public let shorterSide: Int?

    init(_ settings: CallSettings) {
        bitrate = settings.maximumBitrate
        let sides = [settings.width, settings.height].compactMap(\.self)
        longerSide = sides.count == 2 ? sides.max() : nil
        shorterSide = sides.count == 2 ? sides.min() : nil
    }
}
