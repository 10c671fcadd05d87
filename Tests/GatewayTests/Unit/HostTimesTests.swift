import GatewayModel
import Mixer
import Stage
import Testing

@testable import Gateway

@Suite("How a host's media keeps time, as the mixer reports it") struct HostTimesTests {
    private func host(_ id: String, offset: Double?, change: Double = 0, late: Int64 = 0) -> MixerStatistics.Host {
        var host = MixerStatistics.Host()
        host.id = id
        host.offset = offset
        host.offsetChange = change
        host.jitterTarget = 60
        host.driftPartsPerMillion = 199.96
        host.buffer = 287.349
        host.late = late
        host.picturesRepeated = 12
        host.packetsDropped = 3
        host.picturesDropped = 4
        return host
    }

    private let report = MixerReportBody(participants: [
        MixerReportEntry(sid: "PA1", audioLevel: -20, subscribed: ["mic"]),
        MixerReportEntry(sid: "PA2", audioLevel: nil, subscribed: ["screen"]),
        MixerReportEntry(sid: "PA3", audioLevel: nil, subscribed: []),
    ])

    @Test("Each host is told with what its camera's input measured, or else its screen's; rounded")
    func told() {
        let told = report.telling([
            host("PA1", offset: 1_000_000, change: -12.34, late: 7),
            host("PA1.screen", offset: 5),
            host("PA2", offset: nil),
            host("PA2.screen", offset: 0.5, change: 1),
        ])
        #expect(
            told.participants[0].sync
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
        #expect(told.participants[1].sync?.offsetMS == 1)
        #expect(told.participants[2].sync == nil)
        #expect(told.participants.map(\.sid) == ["PA1", "PA2", "PA3"])
        // Of a host with a camera and a screen each is told, of one with either of them only that.
        #expect(told.participants.map { $0.screenSync?.offsetMS } == [0, nil, nil])
    }

    @Test("Peaks and levelling are told of hosts with a microphone, and how loud the program is; rounded")
    func levels() {
        var loud = HostSignal(id: "PA1", level: -20, peak: -6.04, hasSound: true)
        loud.levelling = 3.456
        let told = report.telling([loud, HostSignal(id: "PA2", peak: -3)], ProgramSignal(peak: -1.02, limiting: -2.46))
        #expect(told.participants.map(\.peak) == [-6, nil, nil])
        #expect(told.participants.map(\.levelling) == [3.5, nil, nil])
        #expect(told.program == ProgramLevelResource(peak: -1, limiting: -2.5))
        // Silence is no number.
        #expect(report.telling([], ProgramSignal(peak: -.infinity)).program?.peak == HostSignal.silence)
    }

    @Test("The load tells what each rendition was left without, and nothing of renditions where there are none")
    func renditions() {
        var slow = RungFigures(name: "720p")
        slow.droppedPictures = 41
        let load = ProgramLoad(degradation: .lighterCoding, reason: "frame_work", ratio: 0.9)
        let told = report.telling(load, cores: 1.5, renditions: [slow, RungFigures(name: "360p")])
        #expect(
            told.load?.renditions == [
                RenditionLoadResource(name: "720p", dropped: 41), RenditionLoadResource(name: "360p", dropped: 0),
            ]
        )
        #expect(report.telling(load, cores: 1.5).load?.renditions == nil)
    }

    @Test("What became of the program's pictures goes along, by the names of the places where they were lost")
    func frames() {
        var frames = MixerFrames()
        frames.insert(0.0124)
        frames.insert(0.5)
        frames.lost = [.compose: 1, .rendition: 2]
        let told = report.telling(frames).frames
        #expect(told?.counts == frames.counts && told?.seconds == 0.512)
        #expect(told?.lost == ["compose": 1, "rendition": 2])
    }
}
