import Foundation

/// Where a demo keeps what it has to keep when nobody says where: a folder of its own, which goes when the demo ends.
public struct DemoFolder: Sendable {
    /// The absolute path; nothing is there before a gateway has it as its data folder.
    public let path: String

    /// Thinks of a new one below the system's folder for such things.
    public init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("footlight-demo-\(UUID().uuidString)").path
    }

    /// Removes it with all that is in it, if it is there.
    func remove() {
        // Nobody is left to be told, and the system empties its folder by itself.
        try? FileManager.default.removeItem(atPath: path)
    }
}
