import GatewayModel
import Stage

extension MixerLoadResource {
    init(_ load: MixerLoad) {
        self.init(level: load.level, reason: load.reason, work: load.work, cores: load.cores)
    }
}

extension MixerLoad {
    /// What a mixer reports.
    init(_ body: MixerLoadResource) {
        self.init(level: min(max(body.level, 0), 6), reason: body.reason, work: body.work, cores: max(body.cores, 0))
    }
}
