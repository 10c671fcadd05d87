import Foundation

/// The format of a data folder, which tells versions of Footlight apart that cannot read each other's data.
///
/// | format | since |
/// |---|---|
/// | 1 | 0.1.0 |
/// | 2 | 0.2.0: private rooms, whose rules a version before them would ignore |
enum DataFormat {
    /// The format that this version writes.
    static let current = 2

    static let fileName = "format.json"
    /// The copy of the folder of before the last change of its format, an archive as `footlight backup` makes it.
    static let copyName = "before-upgrade.tar.gz"

    /// The content of the file.
    struct Stamp: Codable {
        var format: Int
        /// The version of Footlight that wrote it last.
        var version: String

        /// Of this version.
        static let current = Stamp(format: DataFormat.current, version: Version.text)
    }

    /// Marks a data folder as of this format; copies one of an earlier format before anything in it is changed.
    ///
    /// A folder without the file is of a version before formats, whose data this version reads.
    ///
    /// - Returns: Why there is no copy of a folder of an earlier format; nil if none is needed, or if it was made.
    /// - Throws: `DataDirectoryError.later` if a later version wrote the folder; nothing is changed then.
    static func claim(_ directory: DataDirectory) throws -> String? {
        let data = try directory.read(fileName)
        let known = data.flatMap { try? JSONDecoder().decode(Stamp.self, from: $0) }
        if let known, known.format > current { throw DataDirectoryError.later(directory.path, version: known.version) }
        var problem: String?
        let hasData = FileManager.default.fileExists(atPath: directory.filePath("rooms.sqlite"))
        if hasData, known?.format ?? 1 < current {
            do {
                let stamp = known ?? Stamp(format: 1, version: "0.1.0")
                try Backup(directory: directory.path).write(to: directory.filePath(copyName), as: stamp)
            } catch {
                problem = "\(error)"
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let stamp = try encoder.encode(Stamp.current)
        if data != stamp { try directory.write(stamp, to: fileName, mode: 0o600) }
        return problem
    }
}
