import Stage
import Synchronization

/// Livestreams that begin by themselves, once there is something to see of their room.
///
/// The outputs' keys wait in memory and nowhere else; a restart before the show began forgets them.
final class AutoStarts: Sendable {
    private struct Start {
        let targets: [OutputTarget]
        let options: LivestreamOptions
    }

    private let directory: RoomDirectory
    private let livestreams: any LivestreamControlling
    private let waiting = Mutex<[String: Start]>([:])
    private let observation = Mutex<StageObservation?>(nil)

    init(directory: RoomDirectory, livestreams: any LivestreamControlling) {
        self.directory = directory
        self.livestreams = livestreams
    }

    /// Starts a room's livestream when its mixer has a host's media and the room is not backstage.
    func expect(_ targets: [OutputTarget], _ options: LivestreamOptions, room sid: String) {
        waiting.withLock { $0[sid] = Start(targets: targets, options: options) }
        observation.withLock { observation in
            guard observation == nil else { return }
            observation = directory.observe { [weak self] event in self?.see(event) }
        }
    }

    private func see(_ event: StageEvent) {
        switch event.payload {
        case .roomEnded:
            waiting.withLock { _ = $0.removeValue(forKey: event.roomSID) }
        case .trackSubscribed, .roomUpdated:
            guard waiting.withLock({ $0[event.roomSID] != nil }), isOnAir(event.roomSID) else { return }
            start(event)
        default:
            break
        }
    }

    private func isOnAir(_ sid: String) -> Bool {
        guard let room = try? directory.room(sid), !room.isBackstage else { return false }
        return room.hosts.contains { host in host.tracks.contains(where: \.isSubscribed) }
    }

    private func start(_ event: StageEvent) {
        guard let start = waiting.withLock({ $0.removeValue(forKey: event.roomSID) }) else { return }
        do {
            try livestreams.start(room: event.roomName, targets: start.targets, options: start.options)
        } catch {
            // One that was started by command meanwhile is what was wanted.
            if error != .livestreamAlreadyStarted { directory.livestreamFailed(room: event.roomSID, error) }
        }
    }
}
