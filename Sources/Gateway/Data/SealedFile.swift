import Dispatch
import Foundation
import Logging
import Persistence
import Synchronization

/// A list or table in one file of the data folder, encrypted and authenticated (AES-GCM) by a key that is derived from the
/// gateway's secret.
///
/// Every change replaces the file, on a queue of its own; an empty content removes it.
final class SealedFile<Content: Codable & Equatable & Sendable & Collection>: Sendable {
    private let name: String
    private let directory: DataDirectory
    private let seal: DataSeal
    private let empty: Content
    private let loss: String
    private let logger: Logger
    private let content: Mutex<Content>
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - secret: The gateway's secret, the same after a restart.
    ///   - purpose: What the file is for; one of another purpose cannot be read.
    ///   - loss: What it means that the content is lost, for the log.
    init(
        _ name: String,
        in directory: DataDirectory,
        secret: [UInt8],
        purpose: String,
        empty: Content,
        loss: String,
        logger: Logger
    ) {
        self.name = name
        self.directory = directory
        self.empty = empty
        self.loss = loss
        self.logger = logger
        seal = DataSeal(secret: secret, purpose: purpose)
        content = Mutex(empty)
        queue = DispatchQueue(label: "footlight.\(name)", qos: .utility)
    }

    /// Reads the content of an earlier run; empty, with a log message, if it cannot be read.
    func load() -> Content {
        do {
            guard let sealed = try directory.read(name) else { return empty }
            let found = try JSONDecoder().decode(Content.self, from: seal.open(sealed))
            content.withLock { $0 = found }
            return found
        } catch {
            logger.error(
                "file of the last run cannot be read: \(loss)",
                metadata: ["file": "\(directory.filePath(name))", "reason": "\(error)"]
            )
            return empty
        }
    }

    /// Changes the content; returns at once.
    func change(_ change: (inout Content) -> Void) {
        let isChanged = content.withLock { content in
            let former = content
            change(&content)
            return content != former
        }
        guard isChanged else { return }
        queue.async { [self] in write() }
    }

    /// Waits until everything is on disk.
    func flush() {
        queue.sync {}
    }

    private func write() {
        let content = content.withLock { $0 }
        do {
            guard !content.isEmpty else { return directory.remove(name) }
            try directory.write(seal.seal(JSONEncoder().encode(content)), to: name, mode: 0o600)
        } catch {
            logger.error(
                "file cannot be stored; after a restart \(loss)",
                metadata: ["file": "\(directory.filePath(name))", "reason": "\(error)"]
            )
        }
    }
}
