// article: begin
import FootlightClient
import Foundation
import Observation

/// The screens before and in a call.
@MainActor @Observable
final class StarterKit {
    let call: any CallManageable
    let before: JoinModel
    let inside: InCallModel

    /// - Parameter call: A `LiveCall`; for a preview or a test a `FakeCallManager`.
    init(_ call: any CallManageable, gateway: URL) {
        self.call = call
        before = JoinModel(call: call, hosts: [gateway.host() ?? ""])
        inside = InCallModel(call: call)
    }

    /// A call over a gateway, with the microphone off, and the camera on if its use is authorized.
    static func live(gateway: URL, token: String, identity: String, devices: any MediaCapturing) async -> StarterKit {
        let client = BroadcastClient(baseURL: gateway, token: token)
        let call = LiveCall(call: BroadcastCall(client: client, identity: identity), capture: devices)
        await call.prepare()
        return StarterKit(call, gateway: gateway)
    }

    /// Joins; `callState` is `joining` on return.
    func join(_ address: String, as name: String) {
        before.meetingURL = address
        before.username = name
        before.join()
    }

    /// The text of a view.
    var screen: String {
        switch inside.screen {
        case .join where !before.isMeetingURLValid: "This is no address of a room"
        case .join: call.error.map { "\($0.message). \($0.solution)." } ?? "Join"
        case .waiting: "Waiting for others"
        case .grid: call.participants.visible.map(\.username).joined(separator: ", ")
        }
    }
}
// article: end
