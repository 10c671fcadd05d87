@testable import Gateway
import Stage
import TestSupport
import Testing
import Viewership

@Suite("Log and count of degradation changes")
struct DegradationLogTests {
    private let directory = RoomDirectory(pepper: [1])
    private let written = LogCapture()
    private let log: DegradationLog

    init() { log = DegradationLog(logger: written.logger) }

    private func report(_ level: Int, _ reason: MixerLoad.Reason?) throws {
        let load = MixerLoad(level: level, reason: reason, work: 0.9, cores: 1)
        try directory.report(room: "show", MixerReport(entries: [], load: load))
        log.update(try directory.room("show"))
    }

    private var counts: [String: Double] {
        let samples = log.family.samples.map { sample in
            (sample.labels.map(\.value).joined(separator: " "), sample.value)
        }
        return Dictionary(samples, uniquingKeysWith: +)
    }

    @Test("logs and counts each change of level with direction and reason, until the room ends")
    func counting() throws {
        _ = try directory.create(RoomSettings(name: "show"))
        for (level, reason) in [(0, nil), (1, .work), (1, .work), (3, .queue), (0, nil)] as [(Int, MixerLoad.Reason?)] {
            try report(level, reason)
        }
        try report(2, .work)
        #expect(
            counts == [
                "show worse frame_work": 2, "show worse encoder_queue": 1, "show better encoder_queue": 1,
            ]
        )
        directory.mixerStopped(room: "show")
        log.update(try directory.room("show"))
        #expect(counts["show better mixer_ended"] == 1)
        #expect(
            written.lines.map(\.description) == [
                "warning program degradation increased from=0 reason=frame_work room=show to=1 work=90 percent",
                "warning program degradation increased from=1 reason=encoder_queue room=show to=3 work=90 percent",
                "notice program degradation decreased from=3 reason=encoder_queue room=show to=0 work=90 percent",
                "warning program degradation increased from=0 reason=frame_work room=show to=2 work=90 percent",
                "notice program degradation decreased from=2 reason=mixer_ended room=show to=0 work=0 percent",
            ]
        )
        log.roomEnded("show")
        #expect(counts.isEmpty)
    }
}
