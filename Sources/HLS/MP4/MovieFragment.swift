import NIOCore

/// A `moof` and its `mdat` (ISO/IEC 14496-12 8.8): audio and video samples of a program.
///
/// Times are ticks of the track's timescale on the feed's clock. There is no edit list, so audio and video of the same
/// moment have equal times. Payloads are slices of the received packets; `write` copies them once.
struct MovieFragment {
    struct VideoSample {
        /// The decode time.
        var time: Int64
        /// The presentation time minus the decode time.
        var compositionOffset: Int32
        var isKey: Bool
        var isDisposable: Bool
        var payload: ByteBuffer
    }

    struct AudioSample {
        var time: Int64
        var payload: ByteBuffer
    }

    private(set) var videoSamples: [VideoSample] = []
    private(set) var audioSamples: [AudioSample] = []
    /// The media bytes so far.
    private(set) var byteCount = 0

    mutating func append(_ video: VideoSample) {
        videoSamples.append(video)
        byteCount += video.payload.readableBytes
    }

    mutating func append(_ audio: AudioSample) {
        audioSamples.append(audio)
        byteCount += audio.payload.readableBytes
    }

    /// Removes and returns the newest video sample, unless it is the only one.
    mutating func removeNewestVideoSample() -> VideoSample? {
        guard videoSamples.count > 1, let newest = videoSamples.popLast() else { return nil }
        byteCount -= newest.payload.readableBytes
        return newest
    }

    /// Returns a fragment with one track and no samples, for a part in which no sample begins.
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

    var hasKeyframe: Bool { videoSamples.contains(where: \.isKey) }

    /// Serializes the fragment.
    ///
    /// - Parameters:
    ///   - number: The fragment's sequence number from 1 (`mfhd`).
    ///   - videoEndTime: The decode time at which the last video sample ends.
    ///   - audioFrameDuration: The ticks of one audio frame.
    func write(number: UInt32, videoEndTime: Int64, audioFrameDuration: Int64) -> ByteBuffer {
        var writer = BoxWriter(capacity: 256 + 16 * videoSamples.count + 8 * audioSamples.count + byteCount)
        var offsets: [(position: Int, value: Int)] = []
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.write(number) }
            if !videoSamples.isEmpty {
                offsets.append((writeVideo(&moof, end: videoEndTime), 0))
            }
            if !audioSamples.isEmpty {
                let before = videoSamples.reduce(0) { $0 + $1.payload.readableBytes }
                offsets.append((writeAudio(&moof, length: audioFrameDuration), before))
            }
        }
        let media = writer.position + 8
        for offset in offsets {
            writer.patch(UInt32(truncatingIfNeeded: media + offset.value), at: offset.position)
        }
        writer.box("mdat") { mdat in
            for video in videoSamples { mdat.write(video.payload) }
            for audio in audioSamples { mdat.write(audio.payload) }
        }
        return writer.bytes
    }

    /// Returns the position of the data offset, which is patched later.
    private func writeVideo(_ moof: inout BoxWriter, end: Int64) -> Int {
        var dataOffset = 0
        moof.box("traf") { traf in
            // Data offsets count from the moof; all other fields vary per video sample.
            traf.fullBox("tfhd", flags: 0x02_0000) { $0.write(ProgramFormat.videoTrack) }
            traf.fullBox("tfdt", version: 1) { $0.write(videoSamples.first?.time ?? 0) }
            // Data offset; duration, size, flags and composition offset of each sample.
            traf.fullBox("trun", version: 1, flags: 0xF01) { trun in
                trun.write(UInt32(videoSamples.count))
                dataOffset = trun.position
                trun.write(UInt32(0))
                for (index, video) in videoSamples.enumerated() {
                    let next = index + 1 < videoSamples.count ? videoSamples[index + 1].time : end
                    trun.write(UInt32(clamping: next - video.time))
                    trun.write(UInt32(video.payload.readableBytes))
                    trun.write(SampleFlags.video(isKey: video.isKey, isDisposable: video.isDisposable))
                    trun.write(video.compositionOffset)
                }
            }
        }
        return dataOffset
    }

    private func writeAudio(_ moof: inout BoxWriter, length: Int64) -> Int {
        var dataOffset = 0
        let isEven = zip(audioSamples, audioSamples.dropFirst()).allSatisfy { $1.time - $0.time == length }
        moof.box("traf") { traf in
            // Data offsets count from the moof; duration and flags are common to all audio samples.
            traf.fullBox("tfhd", flags: 0x02_0028) { tfhd in
                tfhd.write(ProgramFormat.audioTrack)
                tfhd.write(UInt32(clamping: length))
                tfhd.write(SampleFlags.audio)
            }
            traf.fullBox("tfdt", version: 1) { $0.write(audioSamples.first?.time ?? 0) }
            // Data offset; size of each sample and, if there is a gap, its duration, which covers the gap.
            traf.fullBox("trun", version: 1, flags: isEven ? 0x201 : 0x301) { trun in
                trun.write(UInt32(audioSamples.count))
                dataOffset = trun.position
                trun.write(UInt32(0))
                for (index, audio) in audioSamples.enumerated() {
                    if !isEven {
                        let next = index + 1 < audioSamples.count ? audioSamples[index + 1].time : audio.time + length
                        trun.write(UInt32(clamping: next - audio.time))
                    }
                    trun.write(UInt32(audio.payload.readableBytes))
                }
            }
        }
        return dataOffset
    }
}

/// The dependency flags of samples (ISO/IEC 14496-12 8.8.3.1).
enum SampleFlags {
    private static let dependsOnNothing: UInt32 = 2 << 24
    private static let dependsOnOthers: UInt32 = 1 << 24
    private static let nothingDependsOnIt: UInt32 = 2 << 22
    private static let isNotSync: UInt32 = 1 << 16

    /// The flags of audio samples; every AAC frame is a sync sample.
    static let audio = dependsOnNothing

    static func video(isKey: Bool, isDisposable: Bool) -> UInt32 {
        if isKey { return dependsOnNothing }
        return dependsOnOthers | isNotSync | (isDisposable ? nothingDependsOnIt : 0)
    }
}
