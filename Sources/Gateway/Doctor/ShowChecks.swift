import FootlightModel
import Foundation
import NIOCore
import NIOPosix
import OutboundHTTP
import Stage

/// What keeps hosts of a running gateway from being heard or seen.
extension Doctor {
    private static let answerLimit = 4 << 20
    private static let timeout = TimeAmount.seconds(5)

    /// Asks the gateway that runs on the data folder for each of its rooms; empty if none runs.
    func showFindings() async -> [Finding] {
        guard DataDirectoryLock.holder(of: configuration.dataDirectory) != nil,
            let directory = try? DataDirectory(configuration.dataDirectory),
            let endpoints = Endpoints(of: directory), let token = try? directory.read(OperatorToken.fileName)
        else { return [] }
        let bearer = String(decoding: token, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        func ask<Answer: Decodable>(_ path: String, _ type: Answer.Type) async throws -> Answer {
            let request = OutboundRequest(
                .get,
                headers: [("Authorization", "Bearer \(bearer)")],
                responseLimit: Self.answerLimit
            )
            let target = OutboundTarget(isSecure: false, host: "127.0.0.1", port: endpoints.httpPort, path: path)
            let (answer, _) = try await OutboundConnection.send(
                request,
                to: target,
                at: [target.host],
                group: MultiThreadedEventLoopGroup.singleton,
                by: .now() + Self.timeout
            )
            return try WireJSON.decode(type, from: Data(answer.body.readableBytesView))
        }
        let rooms: [RoomResource]
        do {
            rooms = try await ask("/v1/rooms?status=in-progress&page_size=50", RoomList.self).rooms
        } catch {
            return [.warning("shows", "The running gateway does not answer: \(error).", "Look at its log.")]
        }
        var findings: [Finding] = []
        for room in rooms {
            // A room that ended in the meantime has no diagnosis.
            guard let diagnosis = try? await ask("/v1/rooms/\(room.sid)/diagnosis", RoomDiagnosisResource.self) else {
                continue
            }
            if !diagnosis.program.advice.isEmpty {
                findings.append(
                    .warning(
                        "shows",
                        "\(room.uniqueName): \(diagnosis.program.message).",
                        diagnosis.program.advice + "."
                    )
                )
            }
            for host in diagnosis.hosts {
                for finding in [host.sound, host.video]
                where ![.known(.none), .known(.backstage)].contains(finding.cause) {
                    let advice = finding.advice.isEmpty ? "Look at the host in the dashboard." : finding.advice + "."
                    findings.append(.warning("shows", "\(room.uniqueName): \(finding.message).", advice))
                }
            }
        }
        let what = rooms.count == 1 ? "1 room" : "\(rooms.count) rooms"
        return findings.isEmpty ? [.ok("shows", "\(what), and every host is heard and seen.")] : findings
    }
}
