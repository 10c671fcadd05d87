import Foundation

/// Moves an unusable database out of the way, for an operator to inspect.
enum QuarantinedDatabase {
    /// The number of quarantined databases to retain; older ones are deleted.
    static let maximumCount = 5
    private static let companions = ["-wal", "-shm"]

    /// Renames a database and its `-wal` and `-shm` files; open descriptors stay valid.
    ///
    /// - Parameter word: The part between the old name and the date in the new name.
    /// - Returns: The new path.
    /// - Throws: Errors of the file system.
    static func move(_ path: String, as word: String, at date: Date) throws -> String {
        let files = FileManager.default
        let stamp = path + marker(word) + "\(Int(date.timeIntervalSince1970))"
        var destination = stamp
        var number = 1
        while files.fileExists(atPath: destination) {
            number += 1
            destination = "\(stamp)-\(number)"
        }
        try files.moveItem(atPath: path, toPath: destination)
        for suffix in companions where files.fileExists(atPath: path + suffix) {
            try files.moveItem(atPath: path + suffix, toPath: destination + suffix)
        }
        deleteOldest(of: path, marker(word))
        return destination
    }

    private static func marker(_ word: String) -> String { ".\(word)-" }

    private static func deleteOldest(of path: String, _ marker: String) {
        let files = FileManager.default
        let url = URL(fileURLWithPath: path)
        let (folder, prefix) = (url.deletingLastPathComponent(), url.lastPathComponent + marker)
        // Without a listing there is nothing to delete.
        let names = (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
        let quarantined = names.filter { name in
            name.hasPrefix(prefix) && !companions.contains { name.hasSuffix($0) }
        }
        for name in quarantined.sorted().dropLast(maximumCount) {
            for suffix in [""] + companions {
                // Most of these files do not exist; a failure to delete is harmless.
                try? files.removeItem(atPath: folder.appendingPathComponent(name + suffix).path)
            }
        }
    }
}
