import Foundation
import FootlightClient
import Stage

/// One participant's stay in a room, told line by line.
@MainActor
final class JoinedShow {
    private let call: BroadcastCall
    private let media: StageMedia
    private let acceptsInvitations: Bool
    private var accepted: Set<String> = []
    private var latest: ShowLine?

    init(call: BroadcastCall, source: any MediaSource, acceptsInvitations: Bool) {
        self.call = call
        self.acceptsInvitations = acceptsInvitations
        media = StageMedia(call: call, source: source)
    }

    /// Joins, and stays until the call is over or an interruption ends it.
    ///
    /// - Returns: What went wrong, in words; nil for a stay that ended as wished.
    func run(_ order: CallJoin, as name: String?, _ settings: CallSettings) async -> String? {
        let interruption = Interruption { [call] in call.leave() }
        defer { interruption.end() }
        call.displayName = name
        call.callSettings = settings
        let watching = [
            Task { [call] in for await _ in call.participantLists { self.tell() } },
            Task { [call] in for await _ in call.audienceCounts { self.tell() } },
            Task { [call] in for await _ in call.events { self.tell() } },
        ]
        defer { for task in watching { task.cancel() } }
        call.join(order)
        for await status in call.statuses {
            tell()
            guard case .left(let error) = status.phase else { continue }
            await media.stop()
            return media.failure ?? error.map { "\($0.code) \($0.name): \($0.message). \($0.solution)." }
        }
        return nil
    }

    /// Prints what changed, and does what follows from it.
    private func tell() {
        let line = ShowLine(call)
        if line != latest {
            latest = line
            // Not by `print`, which keeps lines back where nobody looks on.
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
        media.follow()
        if acceptsInvitations, let invitation = call.stageInvitation, accepted.insert(invitation.sid).inserted {
            call.accept()
        }
    }
}
