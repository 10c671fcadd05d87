import Glibc

/// The space of a disk, in bytes.
struct DiskSpace: Equatable {
    /// What is on the disk.
    var holds: [String] = []
    /// What is available to this process.
    var free: UInt64
    var total: UInt64

    /// Reads the space of the disk of a folder; blocks for as long as the disk does not answer.
    ///
    /// - Returns: The space, and a number that tells the disk from others; nil if the folder does not exist.
    static func read(at path: String) -> (disk: UInt, space: DiskSpace)? {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return nil }
        let block = UInt64(system.f_frsize)
        func bytes(_ blocks: UInt) -> UInt64 {
            let (bytes, isMore) = UInt64(blocks).multipliedReportingOverflow(by: block)
            return isMore ? .max : bytes
        }
        return (UInt(system.f_fsid), DiskSpace(free: bytes(system.f_bavail), total: bytes(system.f_blocks)))
    }

    /// Reads the space of the disks of folders; blocks for as long as a disk does not answer.
    ///
    /// Folders on the same disk have one entry; one that does not exist has none.
    static func read(_ folders: [(name: String, path: String)]) -> [DiskSpace] {
        var found: [(disk: UInt, space: DiskSpace)] = []
        for (name, path) in folders {
            guard let read = read(at: path) else { continue }
            let index = found.firstIndex { $0.disk == read.disk } ?? found.endIndex
            if index == found.endIndex { found.append(read) }
            found[index].space.holds.append(name)
        }
        return found.map(\.space)
    }
}
