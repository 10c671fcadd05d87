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
