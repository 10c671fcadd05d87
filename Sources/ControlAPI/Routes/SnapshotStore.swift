import Foundation
import HTTPTypes
import NIOCore
import Stage
import Synchronization

/// Stores the latest snapshots of all programs, as their mixers upload them, and the pending requests for them.
///
/// The gateway does not decode video: a mixer encodes the images, and only those that were requested in the last
/// seconds. The requests are sent with the responses to its reports, which arrive at least once a second.
final class SnapshotStore: Sendable {
    struct Image: Sendable {
        let bytes: ByteBuffer
        /// Seconds since 1970.
        let capturedAt: Double
        let arrival: ContinuousClock.Instant
        /// When the mixer was asked for it; it shows a later frame.
        let requestedAt: ContinuousClock.Instant
        /// A tag that changes with every image.
        let tag: String
    }

    private struct Request: Sendable {
        var until: ContinuousClock.Instant
        /// The time when a mixer was asked; nil once it has answered.
        var requestedAt: ContinuousClock.Instant?
        /// The time until which a reader with a token requests it.
        var authorizedUntil: ContinuousClock.Instant?
    }

    private struct Room: Sendable {
        var reportedAt: ContinuousClock.Instant?
        var requests: [SnapshotKey: Request] = [:]
        var images: [SnapshotKey: Image] = [:]
    }

    /// The time for which a request is kept, and an image of it stays fresh.
    private static let requestLifetime = Duration.seconds(10)
    /// The interval between two images of one kind.
    private static let interval = Duration.seconds(2)
    /// The time without a report after which the program counts as ended.
    private static let reportTimeout = Duration.seconds(5)
    /// The number of rooms above which those with silent mixers are evicted.
    private static let evictionThreshold = 64
    /// Maximum number of kinds of images that a mixer makes for readers without a token.
    private static let maximumAnonymousRequests = 2
    /// Maximum number of further kinds that it makes for readers with a token.
    private static let maximumAuthorizedRequests = 4
    /// Maximum number of images of single hosts.
    private static let maximumHostRequests = 24

    private let rooms = Mutex<[String: Room]>([:])
    private let count = Atomic<UInt64>(0)

    /// The result of a request.
    enum Result: Sendable {
        case image(Image)
        /// A mixer is running and has been, or will be, asked.
        case pending
        /// The mixer has the maximum number of requests.
        case busy
        /// No mixer is running.
        case noMixer
    }

    /// Returns the latest image of a room, by sid, and requests a newer one.
    ///
    /// - Parameters:
    ///   - isAnonymous: Whether the reader has no token; readers with a token have a separate limit.
    ///   - earliest: An image that the mixer was asked for before this moment is too old; nil for any.
    func request(
        _ key: SnapshotKey,
        room: String,
        isAnonymous: Bool = false,
        since earliest: ContinuousClock.Instant? = nil,
        now: ContinuousClock.Instant = .now
    ) -> Result {
        rooms.withLock { rooms in
            var entry = rooms[room] ?? Room()
            guard let reportedAt = entry.reportedAt, now - reportedAt < Self.reportTimeout else { return .noMixer }
            entry.requests = entry.requests.filter { $1.until > now }
            let ofProgram = entry.requests.filter { !$0.key.subject.isHost }
            let authorized = ofProgram.values.count { $0.authorizedUntil.map { $0 > now } ?? false }
            let isRequested = entry.requests[key] != nil
            var request = entry.requests[key] ?? Request(until: now)
            if key.subject.isHost {
                let ofHosts = entry.requests.count - ofProgram.count
                guard isRequested || ofHosts < Self.maximumHostRequests else { return .busy }
            } else if isAnonymous {
                guard isRequested || ofProgram.count - authorized < Self.maximumAnonymousRequests else { return .busy }
            } else {
                let isAuthorized = request.authorizedUntil.map { $0 > now } ?? false
                guard isAuthorized || authorized < Self.maximumAuthorizedRequests else { return .busy }
                request.authorizedUntil = now + Self.requestLifetime
            }
            request.until = now + Self.requestLifetime
            entry.requests[key] = request
            rooms[room] = entry
            guard let image = entry.images[key], now - image.arrival < Self.requestLifetime,
                earliest.map({ image.requestedAt >= $0 }) ?? true
            else { return .pending }
            return .image(image)
        }
    }

    /// Records that a room's mixer is running.
    ///
    /// - Returns: The images that it should make now.
    func mixerReported(room: String, now: ContinuousClock.Instant = .now) -> [SnapshotKey] {
        rooms.withLock { rooms in
            if rooms[room] == nil, rooms.count >= Self.evictionThreshold {
                rooms = rooms.filter { now - ($1.reportedAt ?? now) < Self.reportTimeout }
            }
            rooms[room, default: Room()].reportedAt = now
            var due: [SnapshotKey] = []
            for (key, request) in rooms[room]?.requests ?? [:] {
                guard request.until > now else {
                    rooms[room]?.requests[key] = nil
                    rooms[room]?.images[key] = nil
                    continue
                }
                let age = rooms[room]?.images[key].map { now - $0.arrival }
                let isFresh = age.map { $0 < Self.interval } ?? false
                let isAnswering = request.requestedAt.map { now - $0 < Self.interval } ?? false
                guard !isFresh, !isAnswering else { continue }
                rooms[room]?.requests[key]?.requestedAt = now
                due.append(key)
            }
            return due.sorted { $0.text < $1.text }
        }
    }

    /// Whether images of a room's preview are requested.
    func isPreviewRequested(room: String, now: ContinuousClock.Instant = .now) -> Bool {
        rooms.withLock { rooms in
            rooms[room]?.requests.contains { $0.key.subject == .preview && $0.value.until > now } ?? false
        }
    }

    /// Stores an image that a mixer made.
    func store(_ bytes: ByteBuffer, _ key: SnapshotKey, room: String, now: ContinuousClock.Instant = .now) {
        let number = count.add(1, ordering: .relaxed).newValue
        let capturedAt = Date().timeIntervalSince1970
        rooms.withLock { rooms in
            // The image was not requested, or the request has expired.
            guard let request = rooms[room]?.requests[key] else { return }
            let image = Image(
                bytes: bytes,
                capturedAt: capturedAt,
                arrival: now,
                requestedAt: request.requestedAt ?? now - Self.requestLifetime,
                tag: "\"\(String(UInt64(capturedAt * 1000), radix: 36))-\(String(number, radix: 36))\""
            )
            rooms[room]?.requests[key]?.requestedAt = nil
            rooms[room]?.images[key] = image
        }
    }
}

/// The kind of a snapshot: file format, width, and what it shows.
struct SnapshotKey: Hashable, Sendable {
    /// `jpg` or `png`.
    let format: String
    /// One of `widths`; 0 for the program's own width.
    let width: Int
    /// What it shows.
    let subject: Subject

    /// What an image shows.
    enum Subject: Hashable, Sendable {
        case program
        /// What would be on air, while the room is backstage.
        case preview
        /// A host, by sid.
        case host(String)

        /// Whether it is a host.
        var isHost: Bool { if case .host = self { true } else { false } }
    }

    /// The supported widths; any other is rounded up to the next, so that few images serve many requests.
    static let widths = [160, 320, 480, 640, 960, 1280]
    private static let previewText = "preview"

    /// Creates a key for a request's `width`; nil if the width is not a positive number.
    init?(format: String = "jpg", width: String?, of subject: Subject = .program) {
        guard let width else {
            self.init(format: format, resolved: 0, of: subject)
            return
        }
        guard let number = Int(width), number > 0 else { return nil }
        self.init(format: format, resolved: Self.widths.first { $0 >= number } ?? 0, of: subject)
    }

    /// Parses `text`; nil if it is malformed.
    init?(_ text: String) {
        let parts = text.split(separator: "-").map(String.init)
        guard (2...3).contains(parts.count), ["jpg", "png"].contains(parts[0]), let width = Int(parts[1]),
            width == 0 || Self.widths.contains(width)
        else { return nil }
        switch parts.dropFirst(2).first {
        case nil: self.init(format: parts[0], resolved: width)
        case Self.previewText: self.init(format: parts[0], resolved: width, of: .preview)
        case let sid?:
            guard StageIdentifier.isValid(sid, "PA") else { return nil }
            self.init(format: parts[0], resolved: width, of: .host(sid))
        }
    }

    /// - Parameter width: One of `widths`, or 0.
    init(format: String, resolved width: Int, of subject: Subject = .program) {
        self.format = format
        self.width = width
        self.subject = subject
    }

    /// The key as text, such as `jpg-640`, `jpg-640-preview` or `jpg-320-PA…`.
    var text: String {
        switch subject {
        case .program: "\(format)-\(width)"
        case .preview: "\(format)-\(width)-\(Self.previewText)"
        case .host(let sid): "\(format)-\(width)-\(sid)"
        }
    }

    var contentType: String { format == "png" ? "image/png" : "image/jpeg" }
}

extension HTTPField.Name {
    /// The snapshots that a mixer is asked for, such as `jpg-640,png-0`.
    static let footlightSnapshots = Self("Footlight-Snapshots") ?? .eTag
    /// Tells a mixer that the preview is wanted.
    static let footlightPreview = Self("Footlight-Preview") ?? .eTag
}
