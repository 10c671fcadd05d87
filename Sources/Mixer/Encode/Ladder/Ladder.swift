import Codecs
import Media
import Stage

/// The program's renditions: the finished canvas scaled down step by step, each size coded beside the program.
///
/// The program's encoder thread scales, which costs less than a millisecond a picture, and hands each size to a thread
/// of its own; so a rendition that cannot keep up loses pictures of its own, and never holds up the program or another.
/// Each size is made of the next larger one. Owned by the encoder's thread.
final class Ladder {
    private let rungs: [Rung]
    private let soundRung: Rung?

    /// - Parameters:
    ///   - hasThreads: Each rendition is coded on a thread of its own; otherwise in the call that brings its picture.
    ///   - sink: Takes each rendition's packets with its name, timestamps never decreasing.
    init(
        _ ladder: RenditionLadder,
        of program: ProgramConfiguration,
        encoderOptions: String,
        firstTimestamp: Int64,
        sound: MediaPacket,
        hasThreads: Bool,
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        var rungs: [Rung] = []
        for rendition in ladder.renditions {
            let pictures = try RungPictures(
                rendition,
                of: program,
                encoderOptions: encoderOptions,
                firstTimestamp: firstTimestamp
            )
            let name = rendition.name
            rungs.append(
                Rung(name, pictures: pictures, sound: sound, hasThread: hasThreads) { packet in sink(name, packet) }
            )
        }
        self.rungs = rungs
        soundRung =
            ladder.hasAudioOnly
            ? Rung(RenditionLadder.audioName, pictures: nil, sound: sound, hasThread: hasThreads) { packet in
                sink(RenditionLadder.audioName, packet)
            } : nil
    }

    /// Takes picture `index` of the program as it was coded.
    func takePicture(_ canvas: Canvas, index: Int64, isKey: Bool) {
        var source = canvas
        for rung in rungs {
            // Larger sizes only: a canvas that was not free leaves the next larger one to scale from.
            if let scaled = rung.takePicture(from: source, index: index, isKey: isKey) { source = scaled }
        }
    }

    /// Lets the coder of each size leave out so much of its search, 0 to 2, from its next key picture on.
    func economise(to economy: Int) {
        for rung in rungs { rung.economise(to: economy) }
    }

    /// Takes a frame of the program's sound.
    ///
    /// - Parameter hasPictures: The sizes are coded at present; the sound by itself always goes on.
    func takeSound(_ packet: MediaPacket, hasPictures: Bool) {
        if hasPictures { for rung in rungs { rung.takeSound(packet) } }
        soundRung?.takeSound(packet)
    }

    /// No sound earlier than `timestamp` (milliseconds) will come.
    func promiseSounds(from timestamp: Int64) {
        for rung in rungs { rung.promiseSounds(from: timestamp) }
    }

    /// Ends the renditions; returns when nothing comes of them any more.
    func close() {
        for rung in rungs { rung.close() }
        soundRung?.close()
    }

    /// How each rendition is doing.
    var figures: [RungFigures] { (rungs + [soundRung].compactMap(\.self)).map(\.figures) }
}
