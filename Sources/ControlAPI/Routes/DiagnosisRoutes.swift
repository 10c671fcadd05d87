import Foundation
import FootlightModel
import Hummingbird
import Stage

/// Routes that say why a host is not heard or seen, and what the load of a program means.
struct DiagnosisRoutes: FeatureRoutes {
    let rooms: RoomAccess

    func add(to api: APIRoutes) {
        api.read("rooms/:room/diagnosis") { call in
            try APIResponse.json(RoomDiagnosisResource(diagnosis(of: try rooms.readableRoom(call))))
        }

        api.read("rooms/:room/participants/:participant/diagnosis") { call in
            let room = try rooms.readableRoom(call)
            let participant = try rooms.participant(call, in: room)
            guard let host = try diagnosis(of: room).hosts.first(where: { $0.sid == participant.sid }) else {
                throw StageError.notAHost
            }
            return try APIResponse.json(HostDiagnosisResource(host))
        }
    }

    private func diagnosis(of room: RoomSummary) throws(StageError) -> RoomDiagnosis {
        try rooms.directory.diagnosis(room: room.sid, cores: ProcessInfo.processInfo.activeProcessorCount)
    }
}

extension RoomDiagnosisResource {
    init(_ diagnosis: RoomDiagnosis) {
        self.init(
            program: ProgramDiagnosisResource(
                level: diagnosis.program.level,
                message: diagnosis.program.message,
                advice: diagnosis.program.advice,
                adviceCode: diagnosis.program.adviceCode.map { .known($0) },
                values: diagnosis.program.adviceCode == nil ? nil : diagnosis.program.values,
                processorPercent: diagnosis.program.processorPercent
            ),
            hosts: diagnosis.hosts.map { HostDiagnosisResource($0) }
        )
    }
}

extension HostDiagnosisResource {
    init(_ host: HostDiagnosis) {
        self.init(
            participantSID: host.sid,
            identity: host.identity,
            sound: FindingResource(host.sound),
            video: FindingResource(host.video)
        )
    }
}

extension FindingResource {
    fileprivate init(_ finding: HostDiagnosis.Finding) {
        self.init(
            cause: .known(finding.cause),
            message: finding.message,
            advice: finding.advice,
            by: finding.by,
            otherHost: finding.otherHost
        )
    }
}
