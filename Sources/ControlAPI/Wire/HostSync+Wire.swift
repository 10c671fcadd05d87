import GatewayModel
import Stage

extension SyncResource {
    init(_ sync: HostSync) {
        self.init(
            targetMS: sync.target,
            offsetMS: sync.offset,
            driftPPM: sync.drift,
            bufferMS: sync.buffer,
            late: sync.late,
            duplicated: sync.duplicated,
            dropped: sync.dropped
        )
    }
}

extension HostSync {
    /// What a mixer reports.
    init(_ body: SyncResource) {
        self.init(
            target: body.targetMS,
            offset: body.offsetMS,
            drift: body.driftPPM,
            buffer: body.bufferMS,
            late: body.late,
            duplicated: body.duplicated,
            dropped: body.dropped
        )
    }
}
