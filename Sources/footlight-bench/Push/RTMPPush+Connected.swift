import Egress
import FootlightTesting
import Stage

extension RTMPPush {
    /// Waits until it is connected.
    ///
    /// - Throws: `ToolFailure` after ten seconds.
    func waitUntilConnected() async throws {
        guard try await eventually(within: .seconds(10), { self.status.state == .connected }) else {
            throw ToolFailure("the output does not connect: \(status)")
        }
    }
}
