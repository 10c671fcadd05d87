public import Foundation
public import Media
public import Stage
import Synchronization

/// Decides who may watch, in front of the viewer counter.
///
/// Rooms that everyone may watch cost one atomic load. In a private room a player presents a ticket, a passphrase or an
/// access token once; its session id then carries the grant, which every later request is checked by. Players that are
/// not admitted are counted by reason, and never reach the viewer counter.
///
/// Calls come from event loops and from async code; one lock protects all state, and none waits.
public final class AudienceGate: Sendable {
    /// The most tickets of a room.
    public static let ticketsPerRoom = 10_000
    /// The most tickets of all rooms.
    public static let ticketLimit = 100_000
    /// The most tickets made at once.
    public static let ticketsAtOnce = 1000
    /// Seconds for which a ticket is kept after its end.
    private static let retention = 30 * 86_400.0
    private static let revokedRetention = 86_400.0
    /// The most remembered bearers that were removed from a room; the oldest are forgotten first.
    private static let removedPerRoom = 10_000
    /// Wrong passphrases of one client: five at once, and then one every ten seconds.
    private static let attempts = RateLimiter<UInt64>(perSecond: 0.1, burst: 5)

    /// A private room.
    fileprivate struct Room {
        var access: AudienceAccess
        var allowedNetworks = NetworkList()
        var deniedNetworks = NetworkList()
        /// The time of creation in seconds since 1970; ids of an earlier room of the same name are void.
        var createdAt: Double
    }

    fileprivate struct State {
        var rooms: [String: Room] = [:]
        /// The tickets of each room by number.
        var tickets: [String: [UInt32: Ticket]] = [:]
        var ticketCount = 0
        /// The devices that watch with each ticket: their session ids, and the order in which they came.
        var devices: [String: [UInt32: [String: UInt64]]] = [:]
        var deviceCount: UInt64 = 0
        /// The bearers of access tokens that were removed from a room, by number.
        var removed: [String: [UInt32]] = [:]
        var attempts = AudienceGate.attempts
        var refusals: [AccessRefusal: UInt64] = [:]
        /// The time of the last `advance`, in seconds since 1970.
        var lastAdvance = 0.0
    }

    /// Closes the connections of viewers of a room whose session id meets a condition.
    public typealias Dismissal =
        @Sendable (_ room: String, _ isOver: @escaping @Sendable (_ sid: String) -> Bool) -> Void

    private let audience: any PrivateAudience
    private let keys: AdmissionKeys
    private let store: any TicketStoring
    private let clock: any MonotonicClock
    private let date: @Sendable () -> Double
    private let dismiss: Dismissal
    private let state = Mutex(State())
    private let restrictedRooms = Atomic<Int>(0)

    /// Creates a gate in front of a viewer counter.
    ///
    /// - Parameters:
    ///   - tickets: The stored tickets.
    ///   - clock: The clock of the limit on wrong passphrases.
    ///   - date: Returns the seconds since 1970, by which tickets are valid.
    ///   - dismiss: Closes connections; called when viewers lose their access.
    public init(
        audience: any PrivateAudience,
        keys: AdmissionKeys,
        tickets: [Ticket] = [],
        store: any TicketStoring,
        clock: any MonotonicClock = SystemClock(),
        date: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 },
        dismiss: @escaping Dismissal = { _, _ in }
    ) {
        self.audience = audience
        self.keys = keys
        self.store = store
        self.clock = clock
        self.date = date
        self.dismiss = dismiss
        let now = date()
        state.withLock { state in
            state.lastAdvance = now
            state.ticketCount = tickets.count
            for ticket in tickets { state.tickets[ticket.room, default: [:]][ticket.number] = ticket }
        }
    }

    // MARK: Rooms

    /// Sets who may watch a room, and closes the connections of those who may no longer; nil when the room has ended.
    ///
    /// - Parameter createdAt: The time of the room's creation in seconds since 1970.
    public func setAccess(_ access: AudienceAccess?, of room: String, createdAt: Double = 0) {
        let isChanged = state.withLock { state -> Bool in
            let former = state.rooms[room]?.access
            if let access, !access.isUnrestricted {
                state.rooms[room] = Room(
                    access: access,
                    allowedNetworks: NetworkList(access.allowedNetworks) ?? NetworkList(),
                    deniedNetworks: NetworkList(access.deniedNetworks) ?? NetworkList(),
                    createdAt: createdAt
                )
            } else {
                state.rooms[room] = nil
                state.removed[room] = nil
            }
            restrictedRooms.store(state.rooms.count, ordering: .relaxed)
            return former != state.rooms[room]?.access
        }
        if isChanged, access != nil { closeForbidden(in: room) }
    }

    /// Closes the connections of a bearer of access tokens that was removed from a room; they end for good.
    public func remove(_ identity: String, from room: String) {
        let number = PlaybackGrant.number(of: identity)
        let isPrivate = state.withLock { state -> Bool in
            guard state.rooms[room] != nil else { return false }
            state.removed[room, default: []].append(number)
            state.removed[room] = state.removed[room]?.suffix(Self.removedPerRoom)
            return true
        }
        if isPrivate { closeForbidden(in: room) }
    }

    /// Admits a bearer again that joined again.
    public func readmit(_ identity: String, to room: String) {
        guard restrictedRooms.load(ordering: .relaxed) > 0 else { return }
        let number = PlaybackGrant.number(of: identity)
        state.withLock { $0.removed[room]?.removeAll { $0 == number } }
    }

    /// Returns the digest of a new passphrase.
    public func digest(of passphrase: String) -> PassphraseDigest { keys.digest(of: passphrase) }

    /// What a viewer of the room must present.
    public func rule(of room: String) -> AudienceAccess.Rule {
        guard restrictedRooms.load(ordering: .relaxed) > 0 else { return .public }
        return state.withLock { $0.rooms[room]?.access.rule } ?? .public
    }

    /// The refused players since the start, by reason.
    public var refusals: [AccessRefusal: UInt64] { state.withLock { $0.refusals } }

    /// Closes the connections of viewers whose tickets have ended since the last call; call it once a second.
    ///
    /// Also forgets tickets that ended long ago.
    public func advance() {
        let now = date()
        let (ended, gone) = state.withLock { state -> ([String], [String]) in
            let since = state.lastAdvance
            state.lastAdvance = now
            let ended = state.devices.filter { room, tickets in
                tickets.keys.contains { number in
                    guard let end = state.tickets[room]?[number]?.expiresAt else { return false }
                    return end > since && end <= now
                }
            }
            // Once an hour, because all tickets are examined.
            guard Int(since / 3600) != Int(now / 3600) else { return (ended.map(\.key), []) }
            return (ended.map(\.key), state.forgetTickets(at: now, retention: Self.retention, Self.revokedRetention))
        }
        for room in ended { closeForbidden(in: room) }
        if !gone.isEmpty {
            let store = store
            // A failure leaves rows that are deleted after the next start.
            Task { try? await store.save([], removing: gone) }
        }
    }

    private func closeForbidden(in room: String) {
        dismiss(room) { [weak self] sid in
            guard let self else { return false }
            return refusal(of: sid, in: room) != nil
        }
    }

    // MARK: Admission

    /// Returns the session of a request, as the viewer counter does, or why the player is not admitted.
    func admit(_ player: PlayerRequest, to room: String) -> ViewerAdmission {
        guard let policy = policy(of: room) else { return audience.admit(player, to: room) }
        if let refusal = placeRefusal(of: player, policy) { return deny(refusal) }
        guard policy.access.rule != .public else { return audience.admit(player, to: room) }
        // A machine has a token of its own; a relay also names the viewer that it asks for.
        if player.role != .viewer, player.holdsToken, player.sid == nil { return audience.admit(player, to: room) }
        let hasCredential = player.ticket != nil || player.passphrase != nil || player.holdsToken
        if let sid = player.sid {
            guard let statement = audience.statement(of: sid, room: room) else {
                return hasCredential ? admitByCredential(player, to: room, policy) : .refused
            }
            guard let refusal = refusal(of: statement, sid: sid, in: room, claimsPlace: !player.isHead) else {
                return audience.admit(player, to: room)
            }
            return hasCredential ? admitByCredential(player, to: room, policy) : deny(refusal)
        }
        return admitByCredential(player, to: room, policy)
    }

    /// Admits a viewer, and returns its session id.
    ///
    /// - Throws: The error of the refusal, or 429 if its client has too many sessions that do not watch.
    public func admitViewer(_ player: PlayerRequest, to room: String) throws(StageError) -> String {
        var player = player
        var admission = admit(player, to: room)
        if admission == .refused, player.sid != nil {
            // The id is of another room or of nobody; the viewer gets one of its own.
            player.sid = nil
            admission = admit(player, to: room)
        }
        switch admission {
        case .viewer(let sid), .uncounted(let sid): return sid
        case .denied(let refusal): throw refusal.error
        case .crowded, .refused: throw .tooManyRequests(retryAfter: 5)
        }
    }

    /// Whether the id is authentic for the room and may be used.
    func accepts(sid: String, room: String) -> Bool {
        guard audience.accepts(sid: sid, room: room) else { return false }
        return refusal(of: sid, in: room) == nil
    }

    /// Returns why a viewer may not watch any longer; nil if it may.
    public func refusal(of sid: String, in room: String) -> AccessRefusal? {
        guard let policy = policy(of: room), policy.access.rule != .public else { return nil }
        guard let statement = audience.statement(of: sid, room: room) else { return Self.missing(policy.access.rule) }
        return refusal(of: statement, sid: sid, in: room, claimsPlace: false)
    }

    /// Returns the grant of a participant in a private room; nil in others.
    public func grant(ofParticipant identity: String, in room: String) -> PlaybackGrant? {
        guard rule(of: room) != .public else { return nil }
        return .token(PlaybackGrant.number(of: identity))
    }

    private func policy(of room: String) -> Room? {
        guard restrictedRooms.load(ordering: .relaxed) > 0 else { return nil }
        return state.withLock { $0.rooms[room] }
    }

    private func deny(_ refusal: AccessRefusal) -> ViewerAdmission {
        state.withLock { $0.refusals[refusal, default: 0] += 1 }
        return .denied(refusal)
    }

    private static func missing(_ rule: AudienceAccess.Rule) -> AccessRefusal {
        rule == .passphrase ? .passphraseMissing : .ticketMissing
    }

    private func placeRefusal(of player: PlayerRequest, _ policy: Room) -> AccessRefusal? {
        guard policy.access.isLocal else { return nil }
        let access = policy.access
        let address = player.isSharedAddress ? nil : player.address
        if let address, policy.deniedNetworks.contains(address) { return .network }
        if !policy.allowedNetworks.isEmpty {
            guard let address, policy.allowedNetworks.contains(address) else { return .network }
        }
        guard !access.allowedRegions.isEmpty || !access.deniedRegions.isEmpty else { return nil }
        let region = player.region?.uppercased() ?? address.map { audience.region(of: $0) } ?? ""
        func covers(_ regions: [String]) -> Bool { regions.contains { region == $0 || region.hasPrefix($0 + "-") } }
        if covers(access.deniedRegions) { return .region }
        return access.allowedRegions.isEmpty || covers(access.allowedRegions) ? nil : .region
    }

    /// Admits a player by its credential, with a new session id.
    private func admitByCredential(_ player: PlayerRequest, to room: String, _ policy: Room) -> ViewerAdmission {
        var player = player
        player.sid = nil
        if player.holdsToken {
            let number = PlaybackGrant.number(of: player.identity ?? "")
            if player.role == .viewer, state.withLock({ $0.removed[room]?.contains(number) ?? false }) {
                return deny(.removed)
            }
            player.grant = .token(number)
            return audience.admit(player, to: room)
        }
        if let text = player.ticket { return admit(player, to: room, withTicket: text) }
        guard policy.access.rule == .passphrase, let digest = policy.access.passphrase else {
            return deny(.ticketMissing)
        }
        guard let passphrase = player.passphrase else { return deny(.passphraseMissing) }
        if let refusal = check(passphrase, against: digest, of: player) { return deny(refusal) }
        player.grant = .passphrase(digest.grantNumber)
        return audience.admit(player, to: room)
    }

    private func check(
        _ passphrase: String,
        against digest: PassphraseDigest,
        of player: PlayerRequest
    ) -> AccessRefusal? {
        // Behind a proxy that names no client, all viewers have one address.
        let client = player.isSharedAddress ? nil : player.address.flatMap { PeerAddress($0)?.account }
        let now = clock.now
        if let client, state.withLock({ $0.attempts.delay(of: client, now: now) }) > 0 { return .tooManyAttempts }
        if keys.matches(passphrase, digest) { return nil }
        if let client { state.withLock { _ = $0.attempts.chargeRequest(to: client, now: now) } }
        return .passphraseWrong
    }

    /// Admits a player with a ticket, if a device may still watch with it.
    private func admit(_ player: PlayerRequest, to room: String, withTicket text: String) -> ViewerAdmission {
        let ticket = AdmissionKeys.number(in: text).flatMap { number in
            state.withLock { $0.tickets[room]?[number] }
        }
        guard let ticket, keys.isText(text, of: ticket) else { return deny(.ticketUnknown) }
        if let refusal = ticket.refusal(at: date()) { return deny(refusal) }
        var player = player
        player.grant = .ticket(ticket.number)
        // Neither watches.
        if player.isHead || player.purpose != nil { return audience.admit(player, to: room) }
        let (admission, hasDisplaced) = state.withLock { state -> (ViewerAdmission, Bool) in
            var devices = present(state.devices[room]?[ticket.number] ?? [:], in: room)
            var hasDisplaced = false
            if devices.count >= ticket.devices {
                guard player.takesOver, let oldest = devices.min(by: { $0.value < $1.value }) else {
                    state.refusals[.ticketInUse, default: 0] += 1
                    return (.denied(.ticketInUse), false)
                }
                devices[oldest.key] = nil
                hasDisplaced = true
            }
            let admission = audience.admit(player, to: room)
            switch admission {
            case .viewer(let sid), .uncounted(let sid):
                state.deviceCount += 1
                devices[sid] = state.deviceCount
                state.devices[room, default: [:]][ticket.number] = devices
            case .refused, .crowded, .denied: return (admission, false)
            }
            return (admission, hasDisplaced)
        }
        if hasDisplaced { closeForbidden(in: room) }
        return admission
    }

    /// Returns the devices that still watch.
    private func present(_ devices: [String: UInt64], in room: String) -> [String: UInt64] {
        devices.filter { audience.isPresent(sid: $0.key, room: room) }
    }

    /// Returns why an authentic id does not admit to the room; nil if it does.
    ///
    /// - Parameter claimsPlace: Whether the player watches, so that it needs one of the devices of its ticket, as after
    ///   a restart.
    private func refusal(
        of statement: SessionStatement,
        sid: String,
        in room: String,
        claimsPlace: Bool
    ) -> AccessRefusal? {
        let now = date()
        return state.withLock { state -> AccessRefusal? in
            guard let policy = state.rooms[room] else { return nil }
            let missing = Self.missing(policy.access.rule)
            switch statement.grant {
            case nil:
                return missing
            case .ticket(let number)?:
                guard let ticket = state.tickets[room]?[number] else { return .ticketUnknown }
                if let refusal = ticket.refusal(at: now) { return refusal }
                let devices = state.devices[room]?[number] ?? [:]
                guard devices[sid] == nil else { return nil }
                guard claimsPlace else { return .ticketInUse }
                var left = present(devices, in: room)
                guard left.count < ticket.devices else { return .ticketInUse }
                state.deviceCount += 1
                left[sid] = state.deviceCount
                state.devices[room, default: [:]][number] = left
                return nil
            case .passphrase(let number)?:
                // The second of issue is rounded down.
                guard statement.issuedAt + 1 >= policy.createdAt else { return missing }
                guard policy.access.rule == .passphrase, policy.access.passphrase?.grantNumber == number else {
                    return missing
                }
                return nil
            case .token(let number)?:
                guard statement.issuedAt + 1 >= policy.createdAt else { return missing }
                return state.removed[room]?.contains(number) ?? false ? .removed : nil
            }
        }
    }

    // MARK: Tickets

    /// Makes tickets for a room, which need not exist yet.
    ///
    /// - Parameters:
    ///   - room: The room's unique name.
    ///   - orders: At most `ticketsAtOnce`.
    /// - Throws: 3073 naming the field, 53419, or 53001 if they cannot be stored; then none is made.
    public func makeTickets(_ orders: [TicketOrder], for room: String) async throws(StageError) -> [Ticket] {
        let now = date()
        for order in orders { try order.validate(at: now) }
        guard (1...Self.ticketsAtOnce).contains(orders.count) else {
            throw .invalidParameter("count", "must be 1 to \(Self.ticketsAtOnce)")
        }
        let made = try state.withLock { (state) throws(StageError) -> [Ticket] in
            let isOver = (state.tickets[room]?.count ?? 0) + orders.count > Self.ticketsPerRoom
            guard !isOver, state.ticketCount + orders.count <= Self.ticketLimit else { throw .tooManyTickets }
            var taken = state.tickets[room] ?? [:]
            let made = orders.map { order in
                var number = UInt32.random(in: 1...0xFF_FFFF)
                while taken[number] != nil { number = UInt32.random(in: 1...0xFF_FFFF) }
                let ticket = Ticket(number: number, room: room, order, at: now)
                taken[number] = ticket
                return ticket
            }
            state.tickets[room] = taken
            state.ticketCount += made.count
            return made
        }
        do {
            try await store.save(made, removing: [])
        } catch {
            state.withLock { state in
                for ticket in made where state.tickets[room]?.removeValue(forKey: ticket.number) != nil {
                    state.ticketCount -= 1
                }
            }
            throw .ticketsNotStored
        }
        return made
    }

    /// Revokes a ticket at once: connections close, and session ids with it end.
    ///
    /// - Throws: 53413 with status 404; 53001 if the revocation cannot be stored, although it is in force.
    public func revokeTicket(_ id: String, of room: String) async throws(StageError) -> Ticket {
        let now = date()
        let ticket = try state.withLock { (state) throws(StageError) -> Ticket in
            guard var ticket = state.tickets[room]?.values.first(where: { $0.id == id }) else { throw .ticketNotFound }
            ticket.revokedAt = ticket.revokedAt ?? now
            state.tickets[room]?[ticket.number] = ticket
            return ticket
        }
        closeForbidden(in: room)
        do {
            try await store.save([ticket], removing: [])
        } catch {
            throw .ticketsNotStored
        }
        return ticket
    }

    /// Returns the tickets of a room, by date of creation.
    public func tickets(of room: String) -> [Ticket] {
        let tickets = state.withLock { state in state.tickets[room].map { Array($0.values) } ?? [] }
        return tickets.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns the number of devices that watch with a ticket.
    public func deviceCount(of ticket: Ticket) -> Int {
        let devices = state.withLock { $0.devices[ticket.room]?[ticket.number] ?? [:] }
        return present(devices, in: ticket.room).count
    }

    /// Returns the text of a ticket in links.
    public func text(of ticket: Ticket) -> String { keys.text(of: ticket) }
}

extension AudienceGate.State {
    /// Forgets tickets that ended long ago, and devices that watch no more.
    ///
    /// - Returns: The ids of the tickets.
    fileprivate mutating func forgetTickets(at now: Double, retention: Double, _ revokedRetention: Double) -> [String] {
        var gone: [String] = []
        for (room, held) in tickets {
            let left = held.filter { _, ticket in
                now - ticket.expiresAt < retention && now - (ticket.revokedAt ?? now) < revokedRetention
            }
            guard left.count < held.count else { continue }
            gone += held.filter { left[$0.key] == nil }.map(\.value.id)
            tickets[room] = left.isEmpty ? nil : left
            devices[room] = devices[room]?.filter { left[$0.key] != nil }
        }
        ticketCount -= gone.count
        return gone
    }
}

extension Ticket {
    fileprivate init(number: UInt32, room: String, _ order: TicketOrder, at now: Double) {
        self.init(
            id: StageIdentifier.make("TK"),
            number: number,
            room: room,
            name: order.name,
            devices: order.devices,
            startsAt: order.startsAt,
            expiresAt: order.expiresAt,
            createdAt: now
        )
    }
}
