import NIOCore

/// A `moof` and its `mdat` (ISO/IEC 14496-12 8.8): some pictures and sounds of a program, with their times.
///
/// Times are ticks of the track's timescale on the feed's own clock; there is no edit list, so a picture and a sound of
/// the same moment have the same time. Payloads are slices of the packets they came in; `write` copies them, once.
struct MovieFragment {
    struct Picture {
        /// Decode time.
        var time: Int64
        /// Presentation minus decode time.
        var compositionOffset: Int32
        var isKey: Bool
        var isDisposable: Bool
        var payload: ByteBuffer
    }

    struct Sound {
        var time: Int64
        var payload: ByteBuffer
    }

    private(set) var pictures: [Picture] = []
    private(set) var sounds: [Sound] = []
    /// Bytes of media so far.
    private(set) var byteCount = 0

    mutating func append(_ picture: Picture) {
        pictures.append(picture)
        byteCount += picture.payload.readableBytes
    }

    mutating func append(_ sound: Sound) {
        sounds.append(sound)
        byteCount += sound.payload.readableBytes
    }

    /// Takes the newest picture out again, unless it is the only one.
    mutating func removeNewestPicture() -> Picture? {
        guard pictures.count > 1, let newest = pictures.popLast() else { return nil }
        byteCount -= newest.payload.readableBytes
        return newest
    }

    /// A fragment of a time in which nothing begins: one track, at that time, without a sample.
    static func empty(number: UInt32, track: UInt32, time: Int64) -> ByteBuffer {
        var writer = BoxWriter(capacity: 96)
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.write(number) }
            moof.box("traf") { traf in
                traf.fullBox("tfhd", flags: 0x02_0000) { $0.write(track) }
                traf.fullBox("tfdt", version: 1) { $0.write(time) }
                traf.fullBox("trun", version: 1) { $0.write(UInt32(0)) }
            }
        }
        writer.box("mdat") { _ in }
        return writer.bytes
    }

    var hasKeyPicture: Bool { pictures.contains(where: \.isKey) }

    /// The fragment's bytes.
    ///
    /// - Parameters:
    ///   - number: Counts fragments from 1 (`mfhd`).
    ///   - pictureEnd: Decode time at which the last picture ends, because the next begins there.
    ///   - soundLength: Ticks of one sound.
    func write(number: UInt32, pictureEnd: Int64, soundLength: Int64) -> ByteBuffer {
        var writer = BoxWriter(capacity: 256 + 16 * pictures.count + 8 * sounds.count + byteCount)
        var offsets: [(position: Int, value: Int)] = []
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.write(number) }
            if !pictures.isEmpty {
                offsets.append((writePictures(&moof, end: pictureEnd), 0))
            }
            if !sounds.isEmpty {
                let before = pictures.reduce(0) { $0 + $1.payload.readableBytes }
                offsets.append((writeSounds(&moof, length: soundLength), before))
            }
        }
        let media = writer.position + 8
        for offset in offsets {
            writer.patch(UInt32(truncatingIfNeeded: media + offset.value), at: offset.position)
        }
        writer.box("mdat") { mdat in
            for picture in pictures { mdat.write(picture.payload) }
            for sound in sounds { mdat.write(sound.payload) }
        }
        return writer.bytes
    }

    /// Returns where the data offset is to be filled in.
    private func writePictures(_ moof: inout BoxWriter, end: Int64) -> Int {
        var dataOffset = 0
        moof.box("traf") { traf in
            // Data offsets count from the moof; nothing else is the same for all pictures.
            traf.fullBox("tfhd", flags: 0x02_0000) { $0.write(ProgramFormat.videoTrack) }
            traf.fullBox("tfdt", version: 1) { $0.write(pictures.first?.time ?? 0) }
            // Data offset; duration, size, flags and composition offset of each picture.
            traf.fullBox("trun", version: 1, flags: 0xF01) { trun in
                trun.write(UInt32(pictures.count))
                dataOffset = trun.position
                trun.write(UInt32(0))
                for (index, picture) in pictures.enumerated() {
                    let next = index + 1 < pictures.count ? pictures[index + 1].time : end
                    trun.write(UInt32(clamping: next - picture.time))
                    trun.write(UInt32(picture.payload.readableBytes))
                    trun.write(SampleFlags.picture(isKey: picture.isKey, isDisposable: picture.isDisposable))
                    trun.write(picture.compositionOffset)
                }
            }
        }
        return dataOffset
    }

    private func writeSounds(_ moof: inout BoxWriter, length: Int64) -> Int {
        var dataOffset = 0
        let isEven = zip(sounds, sounds.dropFirst()).allSatisfy { $1.time - $0.time == length }
        moof.box("traf") { traf in
            // Data offsets count from the moof; duration and flags are given once for all sounds.
            traf.fullBox("tfhd", flags: 0x02_0028) { tfhd in
                tfhd.write(ProgramFormat.audioTrack)
                tfhd.write(UInt32(clamping: length))
                tfhd.write(SampleFlags.sound)
            }
            traf.fullBox("tfdt", version: 1) { $0.write(sounds.first?.time ?? 0) }
            // Data offset; size of each sound, and where there is a gap also its duration, which reaches over it.
            traf.fullBox("trun", version: 1, flags: isEven ? 0x201 : 0x301) { trun in
                trun.write(UInt32(sounds.count))
                dataOffset = trun.position
                trun.write(UInt32(0))
                for (index, sound) in sounds.enumerated() {
                    if !isEven {
                        let next = index + 1 < sounds.count ? sounds[index + 1].time : sound.time + length
                        trun.write(UInt32(clamping: next - sound.time))
                    }
                    trun.write(UInt32(sound.payload.readableBytes))
                }
            }
        }
        return dataOffset
    }
}
