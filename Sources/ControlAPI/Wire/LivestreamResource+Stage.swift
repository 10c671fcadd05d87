import GatewayModel
import Stage

extension EgressResource {
    init(_ status: LivestreamStatus) {
        self.init(broadcasting: status.state == .started, livestream: LivestreamResource(status))
    }
}

extension LivestreamResource {
    init(_ status: LivestreamStatus) {
        self.init(
            state: status.state.rawValue,
            startedAt: status.startedAt.map { Timestamp($0) },
            outputs: status.outputs.map { OutputResource($0) }
        )
    }
}

extension OutputResource {
    init(_ output: OutputStatus) {
        self.init(
            name: output.name,
            url: output.url,
            streamKey: output.maskedStreamKey,
            state: output.state.rawValue,
            bytesSent: output.bytesSent,
            droppedFrames: output.droppedFrames,
            reconnects: output.reconnects,
            lastError: output.lastError
        )
    }
}
