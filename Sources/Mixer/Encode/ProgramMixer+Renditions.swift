public import Codecs
public import Media
public import NIOCore

extension ProgramMixer {
    /// Codes the renditions that the configuration names, each on a thread of its own; before `start`.
    ///
    /// - Parameter sink: Takes each rendition's packets with its name, first its decoder configurations, timestamps never
    ///   decreasing and on the program's clock; called on the rendition's thread.
    /// - Throws: `CodecError` when the encoder does not take a rendition.
    public func offerRenditions(
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        try encoder.offerRenditions(hasThreads: true, sink: sink)
    }

    /// How each rendition is doing; none where none is offered.
    ///
    /// Any thread.
    public var renditions: [RungFigures] { encoder.renditions }

    /// Makes a file of the program's next picture; any thread.
    ///
    /// - Parameter answer: Comes on another thread, with nil when no file can be made; not at all while there is no
    ///   picture.
    public func order(_ snapshot: Snapshot, answer: @escaping @Sendable (ByteBuffer?) -> Void) {
        encoder.snapshots.order(snapshot, answer: answer)
    }
}

extension ProgramRenderer {
    /// As `ProgramMixer.offerRenditions`, but each rendition is coded inside `advance(to:)`.
    public func offerRenditions(
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        try encoder?.offerRenditions(hasThreads: false, sink: sink)
    }

    /// How each rendition is doing.
    public var renditions: [RungFigures] { encoder?.renditions ?? [] }

    /// Makes a file of the program's next picture; `answer` comes on another thread.
    public func order(_ snapshot: Snapshot, answer: @escaping @Sendable (ByteBuffer?) -> Void) {
        encoder?.snapshots.order(snapshot, answer: answer)
    }
}
