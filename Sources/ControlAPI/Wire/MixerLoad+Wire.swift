import GatewayModel
import Stage

extension MixerLoadResource {
    init(_ load: MixerLoad) {
        self.init(level: load.level, reason: load.reason, work: load.work, cores: load.cores)
    }
}

extension MixerFrames {
    /// What a mixer reports; nil for figures that make no sense.
    init?(_ body: MixerFramesResource) {
        let lost = body.lost.compactMap { name, count in Loss(rawValue: name).map { ($0, count) } }
        self.init(counts: body.counts, seconds: body.seconds, lost: Dictionary(lost) { $1 })
    }
}

extension MixerLoad {
    /// What a mixer reports.
    init(_ body: MixerLoadResource) {
        self.init(level: min(max(body.level, 0), 6), reason: body.reason, work: body.work, cores: max(body.cores, 0))
    }
}
