public import Foundation

/// Puts a database that is of no use out of the way, for somebody to look at it later.
public enum AsideFiles {
    /// Databases that are left for people; the oldest are deleted.
    static let kept = 5
    private static let companions = ["-wal", "-shm"]

    /// Renames a database and the two files beside it; whoever has it open keeps it.
    ///
    /// - Parameter word: What stands between the old name and the date in the new one.
    /// - Returns: The new name.
    /// - Throws: What the file system says.
    public static func put(_ path: String, as word: String, at date: Date) throws -> String {
        let files = FileManager.default
        let stamp = path + mark(word) + "\(Int(date.timeIntervalSince1970))"
        var aside = stamp
        var number = 1
        while files.fileExists(atPath: aside) {
            number += 1
            aside = "\(stamp)-\(number)"
        }
        try files.moveItem(atPath: path, toPath: aside)
        for suffix in companions where files.fileExists(atPath: path + suffix) {
            try files.moveItem(atPath: path + suffix, toPath: aside + suffix)
        }
        forgetOldest(of: path, mark(word))
        return aside
    }

    private static func mark(_ word: String) -> String { ".\(word)-" }

    private static func forgetOldest(of path: String, _ mark: String) {
        let files = FileManager.default
        let url = URL(fileURLWithPath: path)
        let (folder, prefix) = (url.deletingLastPathComponent(), url.lastPathComponent + mark)
        // A folder that cannot be read has nothing to tidy up.
        let names = (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
        let asides = names.filter { name in
            name.hasPrefix(prefix) && !companions.contains { name.hasSuffix($0) }
        }
        for name in asides.sorted().dropLast(kept) {
            for suffix in [""] + companions {
                // Most have no file beside them; one that stays is no harm.
                try? files.removeItem(atPath: folder.appendingPathComponent(name + suffix).path)
            }
        }
    }
}
