// article: begin
import FootlightClient
import Foundation

/// A viewer on the command line: waits for a show, joins its audience, and prints what happens.
@MainActor
final class AudienceApp {
    private let call: BroadcastCall
    private let line: @MainActor (String) -> Void

    /// Prepares the app; it has no camera and no microphone, and needs none.
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

    /// Waits until the show is live, and stays until it ends; returns the error that ended the call.
    func run(show: String) async -> StageError? {
        do {
            try await waitUntilLive(show)
        } catch {
            line("Ended: \(error)")
            return error
        }
        call.join(CallJoin(room: show, mode: .receiveOnly))
        let followers = [
            Task { [call] in for await list in call.participantLists { self.show(list) } },
            Task { [call] in for await count in call.audienceCounts where count > 0 { line("\(count) watching") } },
            Task { [call] in for await event in call.customEvents { self.show(event) } },
        ]
        defer { for follower in followers { follower.cancel() } }
        var hasJoined = false
        // The streams of a call finish when it ends.
        for await status in call.statuses {
            switch status.phase {
            case .joined where !hasJoined:
                hasJoined = true
                // What a player such as AVPlayer opens; it counts as this participant.
                line("Play \(call.playback?.hlsURL ?? "nothing")")
                await applaud()
            case .reconnecting: line("The connection is lost; trying again")
            case .left(let error):
                // An ended show is no failure of this app.
                let isOver = error?.code == StageError.roomCompleted.code
                line(isOver ? "The show is over" : error.map { "Ended: \($0)" } ?? "Left")
                return isOver ? nil : error
            default: break
            }
        }
        return nil
    }

    /// Asks to come on stage; when a host accepts, the call becomes a host's.
    func raiseHand() async throws {
        try await call.raiseHand()
    }

    func leave() {
        call.leave()
    }

    /// Asks for the status every ten seconds; a room that belongs to no show is joined at once.
    private func waitUntilLive(_ show: String) async throws(StageError) {
        while true {
            let status: ShowStatusResource
            do {
                status = try await call.client.showStatus(show)
            } catch {
                if error.code == StageError.showNotFound.code { return }
                throw error
            }
            if status.state == .live { return line("\(status.title) is live") }
            guard status.state == .upcoming else { return line("\(status.title) has ended") }
            line("\(status.title) starts \(status.startsAt.map { "at \($0.text)" } ?? "soon")")
            do {
                try await Task.sleep(for: .seconds(10))
            } catch {
                throw .requestCancelled
            }
        }
    }

    private func applaud() async {
        do {
            try await call.sendReaction("👏")
        } catch {
            line("The reaction was not sent: \(error)")
        }
    }

    private func show(_ participants: [ParticipantResource]) {
        let hosts = participants.filter { $0.mode == .sendAndReceive }
        guard !hosts.isEmpty else { return }
        let names = hosts.map { $0.isMicOn ? $0.displayName : "\($0.displayName) (muted)" }
        line("On stage: \(names.joined(separator: ", "))")
    }

    private func show(_ event: CustomEventResource) {
        if let reaction = event.reaction { line("\(event.identity ?? "The show"): \(reaction)") }
    }
}

extension AudienceApp {
    /// `audience GATEWAY SHOW IDENTITY TOKENFILE`; returns the exit status.
    static func main(_ arguments: [String]) async -> Int32 {
        guard arguments.count == 5, let gateway = URL(string: arguments[1]) else {
            print("usage: audience GATEWAY SHOW IDENTITY TOKENFILE")
            return 64
        }
        let tokenFile = arguments[4]
        let app = AudienceApp(
            gateway: gateway,
            identity: arguments[3],
            // An app with users asks its own server here.
            token: { try String(contentsOfFile: tokenFile, encoding: .utf8).filter { !$0.isWhitespace } }
        )
        return await app.run(show: arguments[2]) == nil ? 0 : 1
    }
}
// article: end
