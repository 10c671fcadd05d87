import GatewayModel
import Mixer
import Stage

extension MixerReportBody {
    /// The same, and how each host's media keeps time: that of the camera and microphone, or else of the screen; of a
    /// host with both, each.
    func telling(_ hosts: [MixerStatistics.Host]) -> MixerReportBody {
        let inputs = Dictionary(hosts.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var report = self
        for index in report.participants.indices {
            let sid = report.participants[index].sid
            let screen = FollowedRoom.Input(participantSID: sid, source: .screen).id
            let known = [sid, screen].compactMap { inputs[$0] }.filter { $0.offset != nil }
            report.participants[index].sync = known.first.map { SyncResource($0) }
            report.participants[index].screenSync = known.dropFirst().first.map { SyncResource($0) }
        }
        return report
    }
}

extension MixerReportBody {
    /// The same, and how loud the hosts are at their loudest whose microphones are on, how they are levelled, and how loud
    /// all are together.
    func telling(_ signals: [HostSignal], _ program: ProgramSignal) -> MixerReportBody {
        func tenths(_ value: Double) -> Double { value.isFinite ? (value * 10).rounded() / 10 : HostSignal.silence }
        let signals = Dictionary(signals.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var report = self
        for index in report.participants.indices where report.participants[index].audioLevel != nil {
            guard let signal = signals[report.participants[index].sid] else { continue }
            report.participants[index].peak = tenths(signal.peak)
            report.participants[index].levelling = tenths(signal.levelling)
        }
        report.program = ProgramLevelResource(peak: tenths(program.peak), limiting: tenths(program.limiting))
        return report
    }
}

extension MixerReportBody {
    /// The same, and how the mixer itself is doing.
    ///
    /// - Parameter renditions: How its renditions are.
    func telling(_ load: ProgramLoad, cores: Double, renditions: [RungFigures] = []) -> MixerReportBody {
        var report = self
        report.load = MixerLoadResource(
            level: load.degradation.level,
            reason: load.reason,
            work: (load.ratio * 100).rounded() / 100,
            cores: (cores * 100).rounded() / 100,
            renditions: renditions.isEmpty
                ? nil : renditions.map { RenditionLoadResource(name: $0.name, dropped: Int($0.droppedPictures)) }
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
