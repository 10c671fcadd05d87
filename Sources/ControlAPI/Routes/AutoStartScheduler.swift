import Stage
import Synchronization

/// Starts livestreams automatically, once the mixer of their room receives a host's media.
///
/// The stream keys of the outputs are held in memory only; a restart before the start discards them.
final class AutoStartScheduler: Sendable {
    private struct Start {
        let targets: [OutputTarget]
        let options: LivestreamOptions
    }

    private let directory: RoomDirectory
    private let livestreams: any LivestreamControlling
    private let pending = Mutex<[String: Start]>([:])
    private let observation = Mutex<StageObservation?>(nil)

    init(directory: RoomDirectory, livestreams: any LivestreamControlling) {
        self.directory = directory
        self.livestreams = livestreams
    }

    /// Starts a room's livestream once its mixer receives a host's media and the room is not backstage.
    func schedule(_ targets: [OutputTarget], _ options: LivestreamOptions, room sid: String) {
        pending.withLock { $0[sid] = Start(targets: targets, options: options) }
        observation.withLock { observation in
            guard observation == nil else { return }
            observation = directory.observe { [weak self] event in self?.handle(event) }
        }
    }

    private func handle(_ event: StageEvent) {
        switch event.payload {
        case .roomEnded:
            pending.withLock { _ = $0.removeValue(forKey: event.roomSID) }
        case .trackSubscribed, .roomUpdated:
            guard pending.withLock({ $0[event.roomSID] != nil }), isOnAir(event.roomSID) else { return }
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
        guard let start = pending.withLock({ $0.removeValue(forKey: event.roomSID) }) else { return }
        do {
            try livestreams.start(room: event.roomName, targets: start.targets, options: start.options)
        } catch {
            // A livestream that was started by command in the meantime is what was asked for.
            if error != .livestreamAlreadyStarted { directory.livestreamFailed(room: event.roomSID, error) }
        }
    }
}
