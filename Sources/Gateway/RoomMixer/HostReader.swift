import Media
import Mixer
import NIOCore
import RTMP
import Synchronization

/// Plays one host's feed into the mixer, and connects again for as long as it is wanted.
final class HostReader: Sendable {
    private struct State {
        var player: RTMPPlayer?
        var isStopped = false
        var failures = 0
    }

    private let url: String
    private let group: any EventLoopGroup
    private let input: HostInput
    private let state = Mutex(State())

    init(url: String, group: any EventLoopGroup, input: HostInput) {
        self.url = url
        self.group = group
        self.input = input
    }

    func start() {
        let player = RTMPPlayer(
            url: url,
            group: group,
            onPacket: { [input, weak self] packet, arrival in
                self?.state.withLock { $0.failures = 0 }
                #if DEBUG
                let packet = MixerMisbehaviour.faulty(packet)
                #endif
                input.receive(packet, arrival: arrival)
            },
            onEnd: { [weak self] _ in self?.comeBack() }
        )
        let isWanted = state.withLock { state in
            guard !state.isStopped else { return false }
            state.player = player
            return true
        }
        if isWanted { player.start() }
    }

    /// The gateway is on the same machine: a lost connection is back in a moment, or the gateway is going down.
    private func comeBack() {
        let failures = state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.player = nil
            state.failures += 1
            return state.failures
        }
        guard let failures else { return }
        let wait = min(2_000, 50 << min(failures, 6)) * Int64.random(in: 80...120) / 100
        group.next().scheduleTask(in: .milliseconds(wait)) { [weak self] in self?.start() }
    }

    func stop() {
        let player = state.withLock { state in
            state.isStopped = true
            return state.player.take()
        }
        player?.stop()
    }
}
