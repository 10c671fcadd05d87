import Foundation

/// Puts a database that cannot be read out of the way, so that somebody can look at it later.
enum DamagedFiles {
    /// Damaged databases that are left for people; the oldest are deleted.
    static let kept = 5
    private static let mark = ".damaged-"

    /// Renames a database and the two files beside it.
    ///
    /// - Returns: The new name.
    /// - Throws: What the file system says.
    static func putAside(_ path: String, at date: Date) throws -> String {
        let files = FileManager.default
        let stamp = mark + "\(Int(date.timeIntervalSince1970))"
        var aside = path + stamp
        var number = 1
        while files.fileExists(atPath: aside) {
            number += 1
            aside = path + stamp + "-\(number)"
        }
        try files.moveItem(atPath: path, toPath: aside)
        for suffix in ["-wal", "-shm"] where files.fileExists(atPath: path + suffix) {
            try files.moveItem(atPath: path + suffix, toPath: aside + suffix)
        }
        forgetOldest(of: path)
        return aside
    }

    private static func forgetOldest(of path: String) {
        let files = FileManager.default
        let folder = (path as NSString).deletingLastPathComponent
        let prefix = (path as NSString).lastPathComponent + mark
        // A folder that cannot be read has nothing to tidy up.
        let names = (try? files.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let asides = names.filter { $0.hasPrefix(prefix) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        for name in asides.sorted().dropLast(kept) {
            for suffix in ["", "-wal", "-shm"] {
                // Most have no file beside them; one that stays is no harm.
                try? files.removeItem(atPath: (folder as NSString).appendingPathComponent(name + suffix))
            }
        }
    }
}
