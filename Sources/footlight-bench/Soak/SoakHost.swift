import Egress
import FootlightTesting
import Stage

/// A host's place, and an encoder that takes it and leaves it.
final class SoakHost {
    let sid: String
    private let identity: String
    private let address: PushAddress
    private let clip: Clip
    private var push: RTMPPush?
    private var feed: LiveFeed?

    /// Joins the room; nothing is sent yet.
    ///
    /// - Parameter number: Which of the clips it sends.
    init(_ identity: String, clip number: Int, room: String, _ gateway: GatewayProcess) async throws {
        (address, sid) = try await gateway.makePlace(for: identity, in: room)
        self.identity = identity
        clip = try await Clip.host(number % 4, seconds: 8)
    }

    var isOnAir: Bool { feed != nil }

    /// Begins to send; again from the clip's beginning after it has left.
    func enter() throws {
        let push = RTMPPush(name: identity, address: address, policy: TargetPolicy(allowsPrivateAddresses: true))
        push.start()
        self.push = push
        feed = try LiveFeed(clip) { push.receive($0) }
    }

    func leave() {
        feed?.stop()
        push?.stop()
        (feed, push) = (nil, nil)
    }
}
