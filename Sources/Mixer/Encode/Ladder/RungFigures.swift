/// How a rendition is doing, counted since its start.
public struct RungFigures: Sendable, Equatable {
    /// The rendition's name.
    public var name: String
    /// Pictures coded.
    public var pictures: Int64 = 0
    /// Pictures left out because the rendition's encoder was behind.
    public var droppedPictures: Int64 = 0
    /// Processor seconds for coding pictures.
    public var encodeSeconds = 0.0
    /// Bytes of packets handed to the sink.
    public var bytes: Int64 = 0
    /// Errors of the encoder.
    public var errors: Int64 = 0
    /// Times that another encoder took over, which searches more or less.
    public var takeovers: Int64 = 0

    /// A rendition that has not begun.
    public init(name: String) {
        self.name = name
    }
}
