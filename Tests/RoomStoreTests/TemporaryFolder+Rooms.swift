import FootlightTesting
import Foundation

extension TemporaryFolder {
    var database: String { file("rooms.sqlite") }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
