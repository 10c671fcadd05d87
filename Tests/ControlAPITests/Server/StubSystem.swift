import ControlAPI
import FootlightModel

/// Reports the same state each time, and messages that it was given.
struct StubSystem: SystemReporting {
    func system() async -> SystemResource { ModelSamples.systemResource }

    func events(from level: SystemEventLevel, room: String?) -> [SystemEventResource] {
        [
            SystemEventResource(
                at: Timestamp(0),
                level: level.rawValue,
                logger: "footlight",
                message: "asked",
                metadata: room.map { ["room": $0] } ?? [:]
            )
        ]
    }

    func diagnostics() async -> DiagnosticsResource { ModelSamples.diagnosticsResource }
}
