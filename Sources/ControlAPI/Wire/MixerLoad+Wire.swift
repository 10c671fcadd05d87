import GatewayModel
import Stage

extension MixerLoadResource {
    init(_ load: MixerLoad) {
        self.init(
            level: load.level,
            reason: load.reason,
            work: load.work,
            cores: load.cores,
            renditions: load.renditions.isEmpty
                ? nil : load.renditions.map { RenditionLoadResource(name: $0.name, dropped: $0.dropped) }
        )
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
        self.init(
            level: min(max(body.level, 0), 6),
            reason: body.reason,
            work: body.work,
            cores: max(body.cores, 0),
            renditions: (body.renditions ?? []).prefix(RenditionLadder.most + 1).map {
                RenditionLoad(name: $0.name, dropped: max($0.dropped, 0))
            }
        )
    }
}
