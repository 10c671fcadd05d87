import Egress
import Logging
import Recording
import Shows
import Stage

extension ShowDirectory.Effects {
    /// Starts the outputs and recordings of the gateway.
    init(_ livestreams: Livestreams, _ recordings: RecordingController, logger: Logger) {
        self.init(
            checkOutputs: { (targets) throws(StageError) in try livestreams.check(targets) },
            startOutputs: { (room, plan) throws(StageError) in
                let running = livestreams.status(room: room)
                guard running.state == .starting || running.state == .started else {
                    return try livestreams.start(room: room, targets: plan.targets, options: plan.options)
                }
                // Some were started before, such as to try them.
                let names = Set(running.outputs.map(\.name))
                let missing = plan.targets.filter { !names.contains($0.name) }
                if !missing.isEmpty { try livestreams.add(missing, room: room) }
            },
            startRecording: { (room) throws(StageError) in
                let state = recordings.status(room: room.settings.name).state
                guard state != .starting, state != .started else { return }
                try recordings.start(room: room.settings.name)
            },
            log: { logger.notice("\($0)", metadata: ["show": "\($1)"]) }
        )
    }
}
