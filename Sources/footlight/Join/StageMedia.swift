import FootlightClient
import GatewayModel
import Stage

/// What a host sends, for as long as it is on stage.
@MainActor
final class StageMedia {
    /// What ended it before its time, in words.
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

    /// Publishes where the call says, or ends when it says nothing any more.
    func follow() {
        guard call.ingest?.streamKey != streamKey else { return }
        streamKey = call.ingest?.streamKey
        work?.cancel()
        if let publisher { Task { await publisher.stop() } }
        publisher = call.ingest.map { RTMPPublisher($0) }
        work = publisher.map { publisher in Task { await self.publish(publisher) } }
    }

    /// Ends in an orderly way.
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
        // Stepped down, or on the way out already.
        if Task.isCancelled { return }
        // What waits is sent before the call says goodbye.
        await publisher.stop()
        call.leave()
    }
}
