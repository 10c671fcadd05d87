import GatewayModel
import Mixer
import Stage

extension MixerReportBody {
    /// The same, and how each host's media keeps time: that of the camera and microphone, or else of the screen.
    func telling(_ hosts: [MixerStatistics.Host]) -> MixerReportBody {
        let inputs = Dictionary(hosts.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var report = self
        for index in report.participants.indices {
            let sid = report.participants[index].sid
            let screen = FollowedRoom.Input(participantSID: sid, source: .screen).id
            let host = [sid, screen].lazy.compactMap { inputs[$0] }.first { $0.offset != nil }
            report.participants[index].sync = host.map { SyncResource($0) }
        }
        return report
    }
}

extension MixerReportBody {
    /// The same, and how the mixer itself is doing.
    func telling(_ load: ProgramLoad, cores: Double) -> MixerReportBody {
        var report = self
        report.load = MixerLoadResource(
            level: load.degradation.level,
            reason: load.reason,
            work: (load.ratio * 100).rounded() / 100,
            cores: (cores * 100).rounded() / 100
        )
        return report
    }
}

extension MixerReportBody {
    /// The same, and what became of the program's pictures.
    func telling(_ frames: MixerFrames) -> MixerReportBody {
        var report = self
        report.frames = MixerFramesResource(
            counts: frames.counts,
            seconds: (frames.seconds * 1000).rounded() / 1000,
            lost: Dictionary(uniqueKeysWithValues: frames.lost.map { ($0.key.rawValue, $0.value) })
        )
        return report
    }
}

extension SyncResource {
    /// Rounded to what the measurement is worth.
    fileprivate init(_ host: MixerStatistics.Host) {
        func tenths(_ value: Double) -> Double { value.isFinite ? (value * 10).rounded() / 10 : 0 }
        self.init(
            targetMS: tenths(host.jitterTarget),
            offsetMS: tenths(host.offsetChange),
            driftPPM: tenths(host.driftPartsPerMillion),
            bufferMS: tenths(host.buffer),
            late: Int(host.late),
            duplicated: Int(host.picturesRepeated),
            dropped: Int(host.packetsDropped + host.picturesDropped)
        )
    }
}
