import GatewayModel
import Stage

extension EgressResource {
    init(livestream: LivestreamStatus, hls: HLSResource) {
        self.init(
            broadcasting: livestream.state == .started || hls.state == HLSState.playable.rawValue,
            livestream: LivestreamResource(livestream),
            hls: hls
        )
    }
}

extension LivestreamResource {
    init(_ status: LivestreamStatus) {
        self.init(
            state: status.state.rawValue,
            startedAt: status.startedAt.map { Timestamp($0) },
            endReason: status.endReason?.rawValue,
            outputs: status.outputs.map { OutputResource($0) }
        )
        if !status.warnings.isEmpty { warnings = status.warnings.map { WarningResource($0) } }
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
            lastError: output.lastFault.map {
                OutputFaultResource(code: $0.code.rawValue, message: $0.message, retry: $0.retry.rawValue)
            }
        )
        spareURL = output.spareURL
        if spareURL != nil { onSpare = output.isOnSpare }
    }
}

extension WarningResource {
    init(_ warning: LivestreamWarning) {
        self.init(
            code: warning.code,
            reason: warning.reason.rawValue,
            message: warning.message,
            output: warning.output,
            secondsLeft: warning.secondsLeft
        )
    }
}

extension HLSResource {
    /// A playlist that never was.
    init() {
        self.init(state: HLSState.stopped.rawValue, startedAt: nil, playbackHLSURL: nil)
    }

    init(_ status: HLSStatus, room: String, addresses: PlaybackAddresses) {
        self.init(
            state: status.state.rawValue,
            startedAt: status.playableAt.map { Timestamp($0) },
            playbackHLSURL: status.state == .playable ? addresses.hls(room) : nil
        )
    }
}
