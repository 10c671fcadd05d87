@testable import Ingest
import Media
import NIOCore
import RTMP
import Stage
import Testing

@Suite("Host media validation")
final class HostMediaValidatorTests {
    private var media = HostMediaValidator(limit: (1920, 1088))
    private let now = MonotonicTime(nanoseconds: 1_000_000_000)

    /// Returns the error with which a packet is refused, or nil.
    private func refusal(_ packet: MediaPacket) -> StageError? {
        do throws(StageError) {
            _ = try media.admit(packet, now: now)
            return nil
        } catch {
            return error
        }
    }

    private func frame(_ bytes: [UInt8], isKey: Bool = true) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: false, timestamp: 40, compositionOffset: 80, capacity: bytes.count) {
            $0.writeBytes(bytes)
        }
    }

    private static func packet(_ content: MediaPacket.Content) -> MediaPacket {
        MediaPacket(content: content, timestamp: 0, body: ByteBuffer(bytes: [0, 0, 0, 0, 0, 1]), headerLength: 5)
    }

    @Test("forwards H.264 and AAC unchanged and reports the media")
    func passes() throws {
        let header = AVCRecord().packet
        #expect(try media.admit(header, now: now)?.body == header.body)
        #expect(media.published.width == 640)
        #expect(media.published.height == 352)
        #expect(media.published.videoCodec == "H.264")
        #expect(!media.published.hasVideo)
        let key = frame([0, 0, 0, 2, 0x65, 0x88])
        #expect(try media.admit(key, now: now)?.body == key.body)
        #expect(media.published.hasVideo)
        #expect(!media.published.hasAudio)
        let configuration = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)
        #expect(try media.admit(configuration, now: now)?.body == configuration.body)
        let audioFrame = MediaPacket.aacFrame(timestamp: 0, capacity: 2) { $0.writeBytes([1, 2]) }
        #expect(try media.admit(audioFrame, now: now)?.body == audioFrame.body)
        #expect(media.published.hasAudio)
        #expect(media.published.audioCodec == "AAC")
        #expect(media.damagedFrames == 0)
    }

    @Test("53404 refuses other video codecs by name", arguments: VideoCodec.allCases.filter { $0 != .h264 })
    func videoCodecs(codec: VideoCodec) {
        for content in [
            MediaPacket.Content.videoConfiguration(codec), .video(codec, isKey: true, isDisposable: false),
        ] {
            let error = refusal(Self.packet(content))
            #expect(error?.code == 53404)
            #expect(error?.message.contains(codec.rawValue) == true)
        }
    }

    @Test(
        "53404 refuses audio codecs other than AAC and MP3 by name",
        arguments: AudioCodec.allCases
    )
    func audioCodecs(codec: AudioCodec) {
        let error = refusal(Self.packet(.audio(codec)))
        if codec == .aac || codec == .mp3 {
            #expect(error == nil)
            #expect(media.published.audioCodec == codec.rawValue)
        } else {
            #expect(error?.code == 53404 && error?.message.contains(codec.rawValue) == true)
            #expect(!media.published.hasAudio)
        }
    }

    @Test("accepts metadata with any content")
    func metadata() {
        #expect(refusal(Self.packet(.metadata)) == nil)
    }

    @Test(
        "accepts frames up to the size limit in both orientations",
        arguments: [(1920, 1088), (1088, 1920), (1280, 720), (16, 16)]
    )
    func sizes(width: Int, height: Int) {
        #expect(refusal(AVCRecord(width: width, height: height).packet) == nil)
        #expect(media.published.width == width)
    }

    @Test(
        "53305 refuses larger frames and reports both sizes",
        arguments: [(1936, 1088), (1920, 1104), (1088, 1936), (3840, 2160)]
    )
    func tooLarge(width: Int, height: Int) {
        let error = refusal(AVCRecord(width: width, height: height).packet)
        #expect(error?.code == 53305)
        #expect(error?.message.contains("\(width)x\(height)") == true)
        #expect(error?.message.contains("1920x1088") == true)
        #expect(media.published.width == nil)
    }

    @Test(
        "53305 refuses large coded sizes in cropped frames, in any parameter set and in-band"
    )
    func hiddenSizes() throws {
        let cropped = AVCRecord(width: 16_384, height: 1088, cropped: (right: 8000, bottom: 0))
        #expect(refusal(cropped.packet)?.code == 53305)
        let second = AVCRecord(others: [AVCRecord(width: 3840, height: 2160).parameterSet])
        #expect(refusal(second.packet)?.code == 53305)
        #expect(refusal(AVCRecord(others: [[0x67, 66]]).packet)?.code == 53404)
        // 1080 lines are coded as 1088.
        #expect(refusal(AVCRecord(width: 1920, height: 1088, cropped: (right: 0, bottom: 4)).packet) == nil)
        #expect(refusal(AVCRecord(others: [AVCRecord(width: 1280, height: 720).parameterSet]).packet) == nil)

        func unit(_ bytes: [UInt8]) -> [UInt8] { [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
        let slice = unit([0x65, 0x88])
        #expect(refusal(frame(unit(AVCRecord().parameterSet) + slice)) == nil)
        #expect(media.published.hasVideo && media.damagedFrames == 0)
        let large = AVCRecord(width: 16_384, height: 16_384, level: 51).parameterSet
        #expect(refusal(frame(unit(large) + slice))?.code == 53305)
        #expect(refusal(frame(unit(AVCRecord(profile: 110, bitDepth: 10).parameterSet) + slice))?.code == 53404)
        #expect(try media.admit(frame(unit([0x67, 66]) + slice), now: now) == nil)
        #expect(media.damagedFrames == 1)
    }

    @Test("refuses high bit depth, other chroma formats and levels above 5.2 with the supported values")
    func forms() {
        let records = [
            AVCRecord(profile: 110, bitDepth: 10), AVCRecord(profile: 122, chromaFormat: 2),
            AVCRecord(profile: 244, chromaFormat: 3), AVCRecord(profile: 100, chromaFormat: 0),
        ]
        for record in records { #expect(refusal(record.packet)?.description.contains("4:2:0") == true) }
        #expect(refusal(AVCRecord(profile: 100).packet) == nil)
        #expect(refusal(AVCRecord(level: 52).packet) == nil)
        #expect(refusal(AVCRecord(level: 60).packet)?.description.contains("6.0") == true)
    }

    @Test("53404 refuses an unreadable configuration")
    func unreadable() {
        for length in 0..<AVCRecord().bytes.count {
            let bytes = ByteBuffer(bytes: AVCRecord().bytes.prefix(length))
            #expect(refusal(.h264Configuration(bytes, timestamp: 0))?.code == 53404)
        }
        #expect(refusal(.aacConfiguration(ByteBuffer(), timestamp: 0))?.code == 53404)
    }

    @Test("converts Annex B frames to length prefixes without parameter sets")
    func startCodes() throws {
        _ = try media.admit(AVCRecord().packet, now: now)
        let sent = frame([0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x68, 3, 0, 0, 1, 0x65, 0x88, 0x84, 0x21])
        let converted = try #require(try media.admit(sent, now: now))
        #expect(Array(converted.payload.readableBytesView) == [0, 0, 0, 4, 0x65, 0x88, 0x84, 0x21])
        #expect(converted.content == sent.content)
        #expect(converted.timestamp == 40)
        #expect(converted.compositionOffset == 80)
        #expect(media.damagedFrames == 0)
    }

    @Test(
        "drops and counts a frame with invalid lengths and accepts the next valid one",
        arguments: [
            [0, 0, 0, 9, 0x65, 0x88], [0, 0, 0, 2, 0x65, 0x88, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0x65], [0x65],
        ] as [[UInt8]]
    )
    func damaged(bytes: [UInt8]) throws {
        _ = try media.admit(AVCRecord().packet, now: now)
        #expect(try media.admit(frame(bytes), now: now) == nil)
        #expect(media.damagedFrames == 1)
        #expect(!media.published.hasVideo)
        #expect(try media.admit(frame([0, 0, 0, 2, 0x41, 0x88], isKey: false), now: now) != nil)
        #expect(media.damagedFrames == 1)
    }

    @Test("drops frames before the first configuration")
    func beforeConfiguration() throws {
        #expect(try media.admit(frame([0, 0, 0, 2, 0x65, 0x88]), now: now) == nil)
        #expect(media.damagedFrames == 1)
    }

    @Test("updates the published media when the configuration changes")
    func reconfigured() throws {
        _ = try media.admit(AVCRecord().packet, now: now)
        _ = try media.admit(AVCRecord(width: 1280, height: 720).packet, now: now)
        #expect(media.published.width == 1280)
        #expect(media.published.height == 720)
    }

    @Test("accepts repeated and occasionally changed configurations and refuses constant changes")
    func unsteady() throws {
        let records = [AVCRecord().packet, AVCRecord(width: 1280, height: 720).packet]
        for _ in 0..<1_000 { #expect(refusal(records[0]) == nil) }
        for second in 0..<60 {
            #expect(try media.admit(records[second % 2], now: now.advanced(seconds: Double(second))) != nil)
        }
        var change = 0
        while change < 100, refusal(records[change % 2]) == nil { change += 1 }
        #expect((1...ConfigurationChangeLimiter.maximumChanges).contains(change))
        #expect(refusal(records[change % 2]) == nil, "a repetition is no change")
        #expect(refusal(records[(change + 1) % 2])?.code == 53404)
        // AAC-LC, 48 and 44.1 kHz.
        let audioConfigurations = [[0x11, 0x90], [0x12, 0x10]].map {
            MediaPacket.aacConfiguration(ByteBuffer(bytes: $0), timestamp: 0)
        }
        change = 0
        while change < 100, refusal(audioConfigurations[change % 2]) == nil { change += 1 }
        #expect(change == ConfigurationChangeLimiter.maximumChanges)
    }

    @Test("removes a track after three seconds without packets and adds it with the next one")
    func silence() throws {
        _ = try media.admit(AVCRecord().packet, now: now)
        let key = frame([0, 0, 0, 2, 0x65, 0x88])
        _ = try media.admit(key, now: now)
        let audioFrame = MediaPacket.aacFrame(timestamp: 0, capacity: 2) { $0.writeBytes([1, 2]) }
        _ = try media.admit(audioFrame, now: now.advanced(seconds: 2))
        media.expireSilentTracks(at: now.advanced(seconds: 2.9))
        #expect(media.published.hasVideo && media.published.hasAudio)
        media.expireSilentTracks(at: now.advanced(seconds: 3.1))
        #expect(!media.published.hasVideo && media.published.hasAudio)
        media.expireSilentTracks(at: now.advanced(seconds: 5.1))
        #expect(!media.published.hasVideo && !media.published.hasAudio)
        _ = try media.admit(key, now: now.advanced(seconds: 6))
        #expect(media.published.hasVideo && !media.published.hasAudio)
        #expect(media.published.width == 640)
    }

    @Test("keeps a still screen share for half a minute")
    func stillScreen() throws {
        media = HostMediaValidator(limit: (1920, 1088), source: .screen)
        _ = try media.admit(AVCRecord().packet, now: now)
        _ = try media.admit(frame([0, 0, 0, 2, 0x65, 0x88]), now: now)
        media.expireSilentTracks(at: now.advanced(seconds: 29.9))
        #expect(media.published.hasVideo)
        media.expireSilentTracks(at: now.advanced(seconds: 30.1))
        #expect(!media.published.hasVideo)
    }
}
