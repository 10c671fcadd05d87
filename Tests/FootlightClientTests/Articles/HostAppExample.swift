// article: begin
import FootlightClient
import Foundation

/// A host on the command line: joins a room, sends an FLV file or a test pattern, and prints what happens.
@MainActor
final class HostApp {
    private let call: BroadcastCall
    private let line: @MainActor (String) -> Void

    /// Prepares the app.
    ///
    /// - Parameters:
    ///   - token: Returns a new token for the identity; asked again whenever one expires.
    ///   - line: Shows a line of text.
    init(
        gateway: URL,
        identity: String,
        token: @escaping BroadcastClient.TokenProvider,
        line: @escaping @MainActor (String) -> Void = { print($0) }
    ) {
        let client = BroadcastClient(baseURL: gateway, tokenProvider: token)
        call = BroadcastCall(client: client, identity: identity)
        self.line = line
    }

    /// Stays in the room until the media or the call ends; returns the error that ended the call.
    func run(room: String, media: some MediaSource) async -> StageError? {
        call.callSettings = CallSettings(isAudioOn: true, isVideoOn: true)
        call.join(CallJoin(room: room, mode: .sendAndReceive))
        let followers = [
            Task { [call] in for await list in call.participantLists { show(list) } },
            Task { [call] in for await problem in call.problems { line("Problem: \(problem)") } },
        ]
        defer { for follower in followers { follower.cancel() } }
        var publishing: Task<Void, Never>?
        defer { publishing?.cancel() }
        // The streams of a call finish when it ends.
        for await status in call.statuses {
            switch status.phase {
            case .joining: line("Joining \(room)")
            case .joined:
                line("On stage")
                if publishing == nil { publishing = Task { await publish(media) } }
            case .reconnecting(.media): line("The media is not arriving; trying again")
            case .reconnecting(.signalling): line("The connection is lost; trying again")
            case .left(let error):
                line(error.map { "Ended: \($0)" } ?? "Left")
                return error
            default: break
            }
        }
        return nil
    }

    /// Turns the microphone off or on; the track stays published.
    func setMuted(_ isMuted: Bool) async throws {
        try await call.setEnabled(.mic, !isMuted)
    }

    func leave() {
        call.leave()
    }

    /// Sends the media, and leaves with its end.
    private func publish(_ media: some MediaSource) async {
        do {
            try await call.publish(from: media)
        } catch {
            if !Task.isCancelled { line("The media ended: \(error)") }
        }
        call.leave()
    }

    private func show(_ participants: [ParticipantResource]) {
        let hosts = participants.filter { $0.mode == .sendAndReceive }
        guard !hosts.isEmpty else { return }
        let parts = hosts.map { host in
            let devices = host.tracks.filter(\.enabled).map { "\($0.name)" }.joined(separator: "+")
            return "\(host.displayName) (\(devices.isEmpty ? "silent" : devices))"
        }
        line("Hosts: \(parts.joined(separator: ", "))")
    }
}

extension HostApp {
    /// `host GATEWAY ROOM IDENTITY TOKENFILE [FLVFILE]`; returns the exit status.
    static func main(_ arguments: [String]) async -> Int32 {
        guard arguments.count >= 5, let gateway = URL(string: arguments[1]) else {
            print("usage: host GATEWAY ROOM IDENTITY TOKENFILE [FLVFILE]")
            return 64
        }
        let tokenFile = arguments[4]
        let app = HostApp(
            gateway: gateway,
            identity: arguments[3],
            // An app with users asks its own server here.
            token: { try String(contentsOfFile: tokenFile, encoding: .utf8).filter { !$0.isWhitespace } }
        )
        let error =
            if arguments.count > 5 {
                await app.run(room: arguments[2], media: FileMediaSource(path: arguments[5]))
            } else {
                await app.run(room: arguments[2], media: PatternMediaSource())
            }
        return error == nil ? 0 : 1
    }
}
// article: end
