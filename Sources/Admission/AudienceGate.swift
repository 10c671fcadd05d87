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
    /// The most remembered bearers that were removed from a room.
    private static let removedPerRoom = 10_000
    /// Wrong passphrases of one client: five at once, and then one every ten seconds.
    private static let attempts = RateLimiter<UInt64>(perSecond: 0.1, burst: 5)
    /// Wrong passphrases for one room from addresses that many clients share.
    private static let sharedAttempts = RateLimiter<String>(perSecond: 2, burst: 50)
    /// Devices that take the place of another one of their ticket.
    private static let takeOvers = RateLimiter<String>(perSecond: 0.5, burst: 5)
    /// Seconds for which an ended room's program stays available, and more.
    private static let endedRetention = 120.0
    /// The most changes of a device's address in a minute; a phone changes networks, two players alternate all the time.
    private static let addressChanges = 10

    /// A private room.
    fileprivate struct Room {
        var access: AudienceAccess
        var allowedNetworks = NetworkList()
        var deniedNetworks = NetworkList()
        /// The time of creation in seconds since 1970; ids of an earlier room of the same name are void.
        var createdAt: Double
        /// The end in seconds since 1970; nil while in progress.
        var endedAt: Double?
    }

    /// A device that watches with a ticket.
    fileprivate struct Device {
        /// The order in which devices came.
        var order: UInt64
        /// The client's `PeerAddress.account`; nil if unknown or shared.
        var account: UInt64?
        /// Whether its session id was presented after its admission.
        var isProven = false
        /// The changes of the account since a time, in seconds since 1970.
        var changes = 0
        var since = 0.0
    }

    /// An open connection of a ticket's device.
    fileprivate struct Connection {
        let number: UInt64
        let close: @Sendable () -> Void
    }

    fileprivate struct State {
        var rooms: [String: Room] = [:]
        /// The tickets of each room by number.
        var tickets: [String: [UInt32: Ticket]] = [:]
        /// The numbers of each room's tickets by id.
        var numbers: [String: [String: UInt32]] = [:]
        var ticketCount = 0
        /// The devices that watch with each ticket, by session id.
        var devices: [String: [UInt32: [String: Device]]] = [:]
        /// The open connections of such devices by session id, one each.
        var connections: [String: Connection] = [:]
        /// The last number of a device or connection.
        var lastNumber: UInt64 = 0
        /// The bearers of access tokens that were removed from a room, by number.
        var removed: [String: Set<UInt32>] = [:]
        var attempts = AudienceGate.attempts
        var sharedAttempts = AudienceGate.sharedAttempts
        var takeOvers = AudienceGate.takeOvers
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
    let date: @Sendable () -> Double
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
            for ticket in tickets { state.insert(ticket) }
        }
    }

    // MARK: Rooms

    /// Sets who may watch a room, and closes the connections of those who may no longer.
    ///
    /// - Parameter createdAt: The time of the room's creation in seconds since 1970.
    public func setAccess(_ access: AudienceAccess, of room: String, createdAt: Double = 0) {
        let isChanged = state.withLock { state -> Bool in
            let former = state.rooms[room]?.access
            if !access.isUnrestricted {
                state.rooms[room] = Room(
                    access: access,
                    allowedNetworks: NetworkList(access.allowedNetworks) ?? NetworkList(),
                    deniedNetworks: NetworkList(access.deniedNetworks) ?? NetworkList(),
                    createdAt: createdAt
                )
            } else {
                state.rooms[room] = nil
            }
            restrictedRooms.store(state.rooms.count, ordering: .relaxed)
            return former != state.rooms[room]?.access
        }
        if isChanged { closeForbidden(in: room) }
    }

    /// Keeps the rules of a room that has ended for as long as its program stays available.
    public func roomEnded(_ room: String) {
        let now = date()
        state.withLock { state in
            state.rooms[room]?.endedAt = now
            state.removed[room] = nil
        }
    }

    /// Closes the connections of a bearer of access tokens that was removed from a room, and ends its session ids until
    /// it joins again.
    public func remove(_ identity: String, from room: String) {
        let number = PlaybackGrant.number(of: identity)
        state.withLock { state in
            if state.removed[room, default: []].count >= Self.removedPerRoom { _ = state.removed[room]?.popFirst() }
            state.removed[room, default: []].insert(number)
        }
        dismiss(room) { [weak self] sid in self?.audience.unverifiedStatement(of: sid)?.grant == .token(number) }
    }

    /// Admits a bearer again that joined again.
    public func readmit(_ identity: String, to room: String) {
        let number = PlaybackGrant.number(of: identity)
        state.withLock { _ = $0.removed[room]?.remove(number) }
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
    /// Also forgets rooms and tickets that ended long ago.
    ///
    /// - Returns: The forgotten rooms.
    @discardableResult
    public func advance() -> [String] {
        let now = date()
        let (ended, forgotten, gone) = state.withLock { state -> ([String: Set<UInt32>], [String], [String]) in
            let since = state.lastAdvance
            state.lastAdvance = now
            var ended: [String: Set<UInt32>] = [:]
            for (room, tickets) in state.devices {
                let numbers = tickets.keys.filter { number in
                    guard let end = state.tickets[room]?[number]?.expiresAt else { return false }
                    return end > since && end <= now
                }
                if !numbers.isEmpty { ended[room] = Set(numbers) }
            }
            let forgotten = state.rooms.filter { now - ($0.value.endedAt ?? now) > Self.endedRetention }.map(\.key)
            for room in forgotten { state.rooms[room] = nil }
            restrictedRooms.store(state.rooms.count, ordering: .relaxed)
            // Once an hour, because all tickets are examined.
            guard Int(since / 3600) != Int(now / 3600) else { return (ended, forgotten, []) }
            let gone = state.forgetTickets(at: now, retention: Self.retention, Self.revokedRetention)
            return (ended, forgotten, gone)
        }
        for (room, numbers) in ended { closeConnections(of: numbers, in: room) }
        if !gone.isEmpty {
            let store = store
            // A failure leaves rows that are deleted after the next start.
            Task { try? await store.save([], removing: gone) }
        }
        return forgotten
    }

    /// Closes the connections with some tickets.
    private func closeConnections(of tickets: Set<UInt32>, in room: String) {
        dismiss(room) { [weak self] sid in
            guard case .ticket(let number)? = self?.audience.unverifiedStatement(of: sid)?.grant else { return false }
            return tickets.contains(number)
        }
    }

    private func closeForbidden(in room: String) {
        dismiss(room) { [weak self] sid in
            // The ids of open connections were verified.
            guard let self, let policy = policy(of: room), policy.access.rule != .public else { return false }
            guard let statement = audience.unverifiedStatement(of: sid) else { return true }
            return refusal(of: statement, sid: sid, in: room) != nil
        }
    }

    // MARK: Admission

    /// Returns the session of a request, as the viewer counter does, or why the player is not admitted.
    func admit(_ player: PlayerRequest, to room: String) -> ViewerAdmission {
        guard let policy = policy(of: room) else { return audience.admit(player, to: room) }
        if let refusal = placeRefusal(of: player, policy) { return deny(refusal) }
        guard policy.access.rule != .public else { return audience.admit(player, to: room) }
        // Whoever says that it fetches ahead, and watches, is a viewer.
        var player = player
        player.purpose = nil
        let hasCredential = player.ticket != nil || player.passphrase != nil || player.holdsToken
        if let sid = player.sid {
            guard let statement = audience.statement(of: sid, room: room) else {
                return hasCredential ? admitByCredential(player, to: room, policy) : .refused
            }
            let claim = player.isHead ? nil : PlaceClaim(of: player)
            guard let refusal = refusal(of: statement, sid: sid, in: room, claim) else {
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

    /// Whether the id is authentic for the room and may be used, as by a relay that asks for a viewer.
    func accepts(sid: String, room: String) -> Bool {
        guard audience.accepts(sid: sid, room: room) else { return false }
        guard let policy = policy(of: room), policy.access.rule != .public else { return true }
        guard let statement = audience.statement(of: sid, room: room) else { return false }
        return refusal(of: statement, sid: sid, in: room, PlaceClaim(account: nil)) == nil
    }

    /// Returns why a player would not be admitted; counts a refusal, and makes no session.
    func refusal(of player: PlayerRequest, to room: String) -> AccessRefusal? {
        guard let policy = policy(of: room) else { return nil }
        let found = placeRefusal(of: player, policy) ?? credentialRefusal(of: player, to: room, policy)
        if let found { _ = deny(found) }
        return found
    }

    /// Returns why neither the session id nor the credential of a player admits it; nil if one does.
    private func credentialRefusal(of player: PlayerRequest, to room: String, _ policy: Room) -> AccessRefusal? {
        guard policy.access.rule != .public else { return nil }
        var refusal = Self.missing(policy.access.rule)
        if let sid = player.sid, let statement = audience.statement(of: sid, room: room) {
            guard let found = self.refusal(of: statement, sid: sid, in: room) else { return nil }
            refusal = found
            // Admission decides whether the ticket has a place left.
            if found == .ticketInUse { return nil }
        }
        if player.holdsToken { return nil }
        if let text = player.ticket {
            guard let ticket = ticket(text, of: room) else { return .ticketUnknown }
            return ticket.refusal(at: date())
        }
        guard policy.access.rule == .passphrase, let digest = policy.access.passphrase else { return refusal }
        guard let passphrase = player.passphrase else { return refusal }
        return check(passphrase, against: digest, of: player, in: room)
    }

    /// Records an open connection; ends an older one with the same id of a ticket, because an id is one device.
    func connected(_ sid: String, to room: String, close: @escaping @Sendable () -> Void) -> ViewerSlot? {
        guard policy(of: room) != nil, case .ticket? = audience.unverifiedStatement(of: sid)?.grant else { return nil }
        let (number, former) = state.withLock { state -> (UInt64, Connection?) in
            state.lastNumber += 1
            let former = state.connections.updateValue(Connection(number: state.lastNumber, close: close), forKey: sid)
            return (state.lastNumber, former)
        }
        former?.close()
        return ViewerSlot { [weak self] in
            self?.state.withLock { state in
                if state.connections[sid]?.number == number { state.connections[sid] = nil }
            }
        }
    }

    /// Returns why a viewer may not watch any longer; nil if it may.
    public func refusal(of sid: String, in room: String) -> AccessRefusal? {
        guard let policy = policy(of: room), policy.access.rule != .public else { return nil }
        guard let statement = audience.statement(of: sid, room: room) else { return Self.missing(policy.access.rule) }
        return refusal(of: statement, sid: sid, in: room)
    }

    /// Returns why a player of a still image is refused: for its place, or its session id.
    public func snapshotRefusal(of player: PlayerRequest, in room: String) -> AccessRefusal? {
        guard let policy = policy(of: room) else { return nil }
        return placeRefusal(of: player, policy) ?? refusal(of: player.sid ?? "", in: room)
    }

    /// Returns the grant of a participant in a private room; nil in others.
    public func grant(ofParticipant identity: String, in room: String) -> PlaybackGrant? {
        guard rule(of: room) != .public else { return nil }
        return .token(PlaybackGrant.number(of: identity))
    }

    /// Whether not everyone may watch a room from everywhere.
    public func isRestricted(_ room: String) -> Bool { policy(of: room) != nil }

    private func policy(of room: String) -> Room? {
        guard restrictedRooms.load(ordering: .relaxed) > 0 else { return nil }
        return state.withLock { $0.rooms[room] }
    }

    /// Counts a refusal, and returns it.
    func deny(_ refusal: AccessRefusal) -> ViewerAdmission {
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
            if state.withLock({ $0.removed[room]?.contains(number) ?? false }) {
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
        if let refusal = check(passphrase, against: digest, of: player, in: room) { return deny(refusal) }
        player.grant = .passphrase(digest.grantNumber)
        return audience.admit(player, to: room)
    }

    private func check(
        _ passphrase: String,
        against digest: PassphraseDigest,
        of player: PlayerRequest,
        in room: String
    ) -> AccessRefusal? {
        let client = PlaceClaim(of: player).account
        let now = clock.now
        let isLocked = state.withLock { state in
            // Behind a proxy that names no client, all viewers have one address.
            let delay =
                client.map { state.attempts.delay(of: $0, now: now) } ?? state.sharedAttempts.delay(of: room, now: now)
            return delay > 0
        }
        if isLocked { return .tooManyAttempts }
        if keys.matches(passphrase, digest) { return nil }
        state.withLock { state in
            if let client {
                _ = state.attempts.chargeRequest(to: client, now: now)
            } else {
                _ = state.sharedAttempts.chargeRequest(to: room, now: now)
            }
        }
        return .passphraseWrong
    }

    /// Returns the ticket of a text; nil unless it is authentic.
    private func ticket(_ text: String, of room: String) -> Ticket? {
        guard let number = AdmissionKeys.number(in: text) else { return nil }
        return state.withLock { $0.tickets[room]?[number] }.flatMap { keys.isText(text, of: $0) ? $0 : nil }
    }

    /// Admits a player with a ticket, if a device may still watch with it.
    private func admit(_ player: PlayerRequest, to room: String, withTicket text: String) -> ViewerAdmission {
        guard let ticket = ticket(text, of: room) else { return deny(.ticketUnknown) }
        if let refusal = ticket.refusal(at: date()) { return deny(refusal) }
        var player = player
        player.grant = .ticket(ticket.number)
        if player.isHead { return audience.admit(player, to: room) }
        let now = clock.now
        let (admission, displaced) = state.withLock { state -> (ViewerAdmission, String?) in
            var devices = present(state.devices[room]?[ticket.number] ?? [:], in: room)
            var displaced: String?
            // A player may ask for the playlist twice, and go on with the second answer only.
            let account = PlaceClaim(of: player).account
            if devices.count >= ticket.devices, let account,
                let unused = devices.first(where: { sid, device in
                    device.account == account && !device.isProven && state.connections[sid] == nil
                })
            {
                devices[unused.key] = nil
            }
            if devices.count >= ticket.devices {
                let oldest = devices.min { $0.value.order < $1.value.order }
                guard player.takesOver, let oldest, state.takeOvers.allowsRequest(from: ticket.id, now: now) else {
                    state.refusals[.ticketInUse, default: 0] += 1
                    return (.denied(.ticketInUse), nil)
                }
                devices[oldest.key] = nil
                displaced = oldest.key
            }
            let admission = audience.admit(player, to: room)
            switch admission {
            case .viewer(let sid), .uncounted(let sid):
                state.lastNumber += 1
                devices[sid] = Device(order: state.lastNumber, account: account)
                state.devices[room, default: [:]][ticket.number] = devices
                return (admission, displaced)
            case .refused, .crowded, .denied:
                return (admission, nil)
            }
        }
        if let displaced { dismiss(room) { $0 == displaced } }
        return admission
    }

    /// Returns the devices that still watch.
    private func present(_ devices: [String: Device], in room: String) -> [String: Device] {
        devices.filter { audience.isPresent(sid: $0.key, room: room) }
    }

    /// Returns why an authentic id does not admit to the room; nil if it does.
    ///
    /// - Parameter claim: The client that watches, which needs one of the devices of its ticket; nil only asks.
    private func refusal(
        of statement: SessionStatement,
        sid: String,
        in room: String,
        _ claim: PlaceClaim? = nil
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
                if var device = devices[sid] {
                    if !device.isProven {
                        device.isProven = true
                        state.devices[room]?[number]?[sid] = device
                    }
                    guard let account = claim?.account, account != device.account else { return nil }
                    if now - device.since > 60 { (device.changes, device.since) = (0, now) }
                    device.changes += device.account == nil ? 0 : 1
                    device.account = account
                    state.devices[room]?[number]?[sid] = device
                    // Several players with one id, far from each other.
                    return device.changes > Self.addressChanges ? .ticketInUse : nil
                }
                guard let claim else { return .ticketInUse }
                // As after a restart, or after a pause.
                var left = present(devices, in: room)
                guard left.count < ticket.devices else { return .ticketInUse }
                state.lastNumber += 1
                left[sid] = Device(order: state.lastNumber, account: claim.account, isProven: true)
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
            return orders.map { order in
                var number = UInt32.random(in: 1...0xFF_FFFF)
                while state.tickets[room]?[number] != nil { number = UInt32.random(in: 1...0xFF_FFFF) }
                let ticket = Ticket(number: number, room: room, order, at: now)
                state.insert(ticket)
                return ticket
            }
        }
        do {
            try await store.save(made, removing: [])
        } catch {
            state.withLock { state in
                for ticket in made { state.remove(ticket) }
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
            guard var ticket = state.ticket(id, of: room) else { throw .ticketNotFound }
            ticket.revokedAt = ticket.revokedAt ?? now
            state.tickets[room]?[ticket.number] = ticket
            return ticket
        }
        closeConnections(of: [ticket.number], in: room)
        do {
            try await store.save([ticket], removing: [])
        } catch {
            throw .ticketsNotStored
        }
        return ticket
    }

    /// Returns a ticket by id.
    ///
    /// - Throws: 53413 with status 404.
    public func ticket(_ id: String, in room: String) throws(StageError) -> Ticket {
        guard let ticket = state.withLock({ $0.ticket(id, of: room) }) else { throw .ticketNotFound }
        return ticket
    }

    /// Returns the tickets of a room, by date of creation.
    public func tickets(of room: String) -> [Ticket] {
        let tickets = state.withLock { state in state.tickets[room].map { Array($0.values) } ?? [] }
        return tickets.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns the number of devices that watch with a ticket.
    public func deviceCount(of ticket: Ticket) -> Int {
        guard ticket.revokedAt == nil else { return 0 }
        let devices = state.withLock { $0.devices[ticket.room]?[ticket.number] ?? [:] }
        return present(devices, in: ticket.room).count
    }

    /// Returns the text of a ticket in links.
    public func text(of ticket: Ticket) -> String { keys.text(of: ticket) }
}

/// The client of a request that watches.
private struct PlaceClaim {
    /// Its `PeerAddress.account`; nil if its address is unknown, or that of a proxy or a relay.
    let account: UInt64?

    init(account: UInt64?) {
        self.account = account
    }

    init(of player: PlayerRequest) {
        let isOwn = !player.isSharedAddress && player.role != .relay
        account = isOwn ? player.address.flatMap { PeerAddress($0)?.account } : nil
    }
}

extension AudienceGate.State {
    fileprivate func ticket(_ id: String, of room: String) -> Ticket? {
        numbers[room]?[id].flatMap { tickets[room]?[$0] }
    }

    fileprivate mutating func insert(_ ticket: Ticket) {
        tickets[ticket.room, default: [:]][ticket.number] = ticket
        numbers[ticket.room, default: [:]][ticket.id] = ticket.number
        ticketCount += 1
    }

    fileprivate mutating func remove(_ ticket: Ticket) {
        guard tickets[ticket.room]?.removeValue(forKey: ticket.number) != nil else { return }
        numbers[ticket.room]?[ticket.id] = nil
        devices[ticket.room]?[ticket.number] = nil
        ticketCount -= 1
    }

    /// Forgets tickets that ended long ago, and devices that watch no more.
    ///
    /// - Returns: The ids of the tickets.
    fileprivate mutating func forgetTickets(at now: Double, retention: Double, _ revokedRetention: Double) -> [String] {
        var gone: [Ticket] = []
        for ticket in tickets.values.flatMap(\.values) {
            let isOver = now - ticket.expiresAt >= retention || now - (ticket.revokedAt ?? now) >= revokedRetention
            if isOver { gone.append(ticket) }
        }
        for ticket in gone { remove(ticket) }
        return gone.map(\.id)
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
