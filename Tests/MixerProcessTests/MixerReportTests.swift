import FootlightModel
import FootlightTesting
import Mixer
import Stage
import Testing

@testable import MixerProcess

@Suite("Contents of the mixer's report") struct MixerReportTests {
    private func host(_ id: String, offset: Double?, change: Double = 0, late: Int64 = 0) -> MixerStatistics.Host {
        var host = MixerStatistics.Host()
        host.id = id
        host.offset = offset
        host.offsetChange = change
        host.jitterTarget = 60
        host.driftPartsPerMillion = 199.96
        host.buffer = 287.349
        host.late = late
        host.framesRepeated = 12
        host.packetsDropped = 3
        host.framesDropped = 4
        return host
    }

    private let report = MixerReportBody(participants: [
        MixerReportEntry(sid: "PA1", audioLevel: -20, subscribed: ["mic"]),
        MixerReportEntry(sid: "PA2", audioLevel: nil, subscribed: ["screen"]),
        MixerReportEntry(sid: "PA3", audioLevel: nil, subscribed: []),
    ])

    @Test("has the rounded sync of each host's camera, else of its screen")
    func result() {
        let result = report.adding([
            host("PA1", offset: 1_000_000, change: -12.34, late: 7),
            host("PA1.screen", offset: 5),
            host("PA2", offset: nil),
            host("PA2.screen", offset: 0.5, change: 1),
        ])
        #expect(
            result.participants[0].sync
                == SyncResource(
                    targetMS: 60,
                    offsetMS: -12.3,
                    driftPPM: 200,
                    bufferMS: 287.3,
                    late: 7,
                    duplicated: 12,
                    dropped: 7
                )
        )
        #expect(result.participants[1].sync?.offsetMS == 1)
        #expect(result.participants[2].sync == nil)
        #expect(result.participants.map(\.sid) == ["PA1", "PA2", "PA3"])
        // A host with camera and screen has both, another one has no screen sync.
        #expect(result.participants.map { $0.screenSync?.offsetMS } == [0, nil, nil])
    }

    @Test("has the rounded peaks and loudness gains of hosts with a microphone, and the program's level")
    func levels() {
        var loud = HostSignal(id: "PA1", level: -20, peak: -6.04, hasAudio: true)
        loud.levelling = 3.456
        let result = report.adding(
            [loud, HostSignal(id: "PA2", peak: -3)],
            ProgramSignal(peak: -1.02, limiting: -2.46)
        )
        #expect(result.participants.map(\.peak) == [-6, nil, nil])
        #expect(result.participants.map(\.levelling) == [3.5, nil, nil])
        #expect(result.program == ProgramLevelResource(peak: -1, limiting: -2.5))
        // The level of silence is not finite.
        #expect(report.adding([], ProgramSignal(peak: -.infinity)).program?.peak == HostSignal.silence)
    }

    @Test("has the dropped frames of each rendition, or no renditions")
    func renditions() {
        var slow = RenditionStatistics(name: "720p")
        slow.droppedFrames = 41
        let load = ProgramLoad(degradation: .lighterCoding, reason: .work, ratio: 0.9)
        let result = report.adding(load, cores: 1.5, renditions: [slow, RenditionStatistics(name: "360p")])
        #expect(
            result.load?.renditions == [
                RenditionLoadResource(name: "720p", dropped: 41), RenditionLoadResource(name: "360p", dropped: 0),
            ]
        )
        #expect(report.adding(load, cores: 1.5).load?.renditions == nil)
    }

    @Test("has the frame times and losses by stage")
    func frames() {
        var frames = MixerFrames()
        frames.insert(0.0124)
        frames.insert(0.5)
        frames.lost = [.compose: 1, .rendition: 2]
        let result = report.adding(frames).frames
        #expect(result?.counts == frames.counts && result?.seconds == 0.512)
        #expect(result?.lost == ["compose": 1, "rendition": 2])
    }
}
