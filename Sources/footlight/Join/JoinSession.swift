import Dispatch
import FootlightClient
import Foundation
import FootlightModel
import Stage

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The session of a participant in a room, whose state is printed line by line.
@MainActor
final class JoinSession {
    private let call: BroadcastCall
    private let media: HostMediaPublisher
    private let acceptsInvitations: Bool
    private var accepted: Set<String> = []
    private var latest: StatusLine?

    init(call: BroadcastCall, source: any MediaSource, acceptsInvitations: Bool) {
        self.call = call
        self.acceptsInvitations = acceptsInvitations
        media = HostMediaPublisher(call: call, source: source)
    }

    /// Joins, and stays until the call ends or a signal interrupts it.
    ///
    /// - Returns: A description of the error; nil if the session ended by request.
    func run(_ join: CallJoin, as name: String?, _ settings: CallSettings) async -> String? {
        let interruption = InterruptHandler { [call] in call.leave() }
        defer { interruption.end() }
        call.displayName = name
        call.callSettings = settings
        let streamTasks = [
            Task { [call] in for await _ in call.participantLists { self.printStatus() } },
            Task { [call] in for await _ in call.audienceCounts { self.printStatus() } },
            Task { [call] in for await _ in call.events { self.printStatus() } },
        ]
        defer { for task in streamTasks { task.cancel() } }
        call.join(join)
        for await status in call.statuses {
            printStatus()
            guard case .left(let error) = status.phase else { continue }
            await media.stop()
            return media.failure ?? error.map { "\($0.code) \($0.name): \($0.message). \($0.solution)." }
        }
        return nil
    }

    /// Prints the state if it changed, and follows it.
    private func printStatus() {
        let line = StatusLine(call)
        if line != latest {
            latest = line
            // Not with `print`, which buffers lines if the output is not a terminal.
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
        media.follow()
        if acceptsInvitations, let invitation = call.stageInvitation, accepted.insert(invitation.sid).inserted {
            call.accept()
        }
    }
}

/// The state of a call and its room as one line.
struct StatusLine: Equatable, CustomStringConvertible {
    let description: String

    /// Creates the line for a call's current state.
    @MainActor
    init(_ call: BroadcastCall) {
        var parts = [Self.state(call.status)]
        if let room = call.room, call.status.callState == .joined {
            let hosts = room.hosts.map { Self.host($0) }.joined(separator: ", ")
            parts += ["hosts: \(hosts.isEmpty ? "none" : hosts)", "audience: \(room.audienceCount)"]
            parts.append("live: \(Self.live(room))")
        }
        description = parts.joined(separator: " | ")
    }

    private static func state(_ status: CallStatus) -> String {
        switch status.phase {
        case .reconnecting(let loss): "reconnecting (\(loss.rawValue))"
        case .leaving: "leaving"
        default:
            switch status.callingState {
            case .idle: "idle"
            case .lobby: "lobby"
            case .incoming: "incoming"
            case .outgoing: "outgoing"
            case .joining: "joining"
            case .inCall: "inCall"
            case .reconnecting: "reconnecting"
            }
        }
    }

    private static func host(_ participant: ParticipantResource) -> String {
        var devices = [
            "mic \(participant.isOn(.mic) ? "on" : "off")", "camera \(participant.isOn(.camera) ? "on" : "off")",
        ]
        if participant.isOn(.screen) { devices.append("screen on") }
        if participant.status != .connected { devices.append(participant.status.rawValue) }
        return "\(participant.identity) (\(devices.joined(separator: ", ")))"
    }

    /// Returns whether a host is on air, and the state of the livestream and HLS.
    private static func live(_ room: CallRoom) -> String {
        let isOnAir = room.hosts.contains { !$0.streams.isEmpty }
        var parts = [room.room.backstage ? "backstage" : isOnAir ? "on air" : "no host on air"]
        let egress = room.room.egress
        if egress.livestream.state != .stopped { parts.append("\(egress.livestream.state)") }
        if egress.hls.state != .stopped { parts.append("\(egress.hls.state)") }
        return parts.joined(separator: ", ")
    }
}

/// Publishes a host's media while it is on stage.
@MainActor
final class HostMediaPublisher {
    /// A description of the error that ended the media; nil without one.
    private(set) var failure: String?

    private let call: BroadcastCall
    private let source: any MediaSource
    private var streamKey: String?
    private var publisher: RTMPPublisher?
    private var work: Task<Void, Never>?

    init(call: BroadcastCall, source: any MediaSource) {
        self.call = call
        self.source = source
    }

    /// Starts publishing when the call has an ingest, and stops when it has none.
    func follow() {
        guard call.ingest?.streamKey != streamKey else { return }
        streamKey = call.ingest?.streamKey
        work?.cancel()
        if let publisher { Task { await publisher.stop() } }
        publisher = call.ingest.map { RTMPPublisher($0) }
        work = publisher.map { publisher in Task { await self.publish(publisher) } }
    }

    /// Stops publishing regularly.
    func stop() async {
        work?.cancel()
        await publisher?.stop()
    }

    private func publish(_ publisher: RTMPPublisher) async {
        let following = Task { [call] in await call.follow(publisher) }
        defer { following.cancel() }
        do {
            try await publisher.publish(from: source)
        } catch {
            if !Task.isCancelled { failure = "The media ended: \(error)" }
        }
        // The participant stepped down or is leaving.
        if Task.isCancelled { return }
        // Queued packets are sent before the call leaves.
        await publisher.stop()
        call.leave()
    }
}

/// Handles SIGINT and SIGTERM: the first signal calls a closure, the second ends the process.
@MainActor
final class InterruptHandler {
    private static let signals = [SIGINT, SIGTERM]
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter body: Called at the first signal.
    init(_ body: @escaping @MainActor () -> Void) {
        for number in Self.signals {
            // A dispatch source receives a signal only if its default action is ignored.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { [weak self] in
                MainActor.assumeIsolated {
                    self?.end()
                    body()
                }
            }
            source.resume()
            sources.append(source)
        }
    }

    /// Restores the default action of the signals.
    func end() {
        for source in sources { source.cancel() }
        sources = []
        for number in Self.signals { signal(number, SIG_DFL) }
    }
}
