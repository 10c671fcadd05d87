import Foundation
import Glibc

/// The checks of the data folder.
extension Doctor {
    /// Free space below which a show with a recording does not last long.
    private static let comfortableBytes: UInt64 = 2 << 30
    /// Folders that mixers can read.
    private static let shared = ["/usr", "/lib", "/proc"]

    /// Looks at the folder without creating, locking or changing anything.
    var folderFindings: [Finding] {
        let (path, subject) = (configuration.dataDirectory, "data folder")
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return access(parent, W_OK) == 0
                ? [.ok(subject, "\(path) does not exist yet; the gateway makes it.")]
                : [.problem(subject, "\(path) does not exist and cannot be made.", "Make it for the gateway's user.")]
        }
        let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
        guard isFolder, access(path, R_OK | W_OK | X_OK) == 0 else {
            let owner = attributes[.ownerAccountName] as? String ?? "unknown"
            return [
                .problem(
                    subject,
                    "This user may not write to \(path).",
                    "Run as the gateway's user, or change the folder's owner (\(owner))."
                )
            ]
        }
        let mode = attributes[.posixPermissions] as? Int ?? 0
        var findings: [Finding] = []
        if Self.shared.contains(where: { (path + "/").hasPrefix($0 + "/") }) {
            findings.append(.problem(subject, "Mixers can read \(path).", "Use a folder such as /var/lib/footlight."))
        }
        if mode & 0o077 != 0 {
            findings.append(.warning(subject, "Others may read \(path).", "The gateway narrows it at its start."))
        }
        if let free = DiskSpace.read(at: path)?.space.free {
            let reserve = UInt64(configuration.recordingReserve) << 20
            findings.append(
                free < reserve + Self.comfortableBytes
                    ? .warning("disk", "\(free >> 20) MiB are free.", "Make room, or recordings end soon.")
                    : .ok("disk", "\(free >> 30) GiB are free.")
            )
        }
        if !findings.contains(where: { $0.subject == subject }) {
            findings.insert(.ok(subject, "\(path) belongs to this user."), at: 0)
        }
        return findings
    }
}
