import Crypto
import Foundation
import Media
public import Stage

/// A ticket: a signed link that admits its holder to a room's program.
///
/// A ticket belongs to the name of a room, so that it can be sold before the room is created.
public struct Ticket: Sendable, Hashable {
    /// `TK` and 32 hexadecimal digits.
    public var id: String
    /// The number in session ids of viewers with the ticket, unique in the room; 24 bits.
    public var number: UInt32
    /// The room's unique name.
    public var room: String
    /// The name that the operator gave it, such as its holder's; may be empty.
    public var name: String
    /// The number of devices that may watch with it at once.
    public var devices: Int
    /// The start of its validity in seconds since 1970; nil from the beginning.
    public var startsAt: Double?
    /// The end of its validity in seconds since 1970.
    public var expiresAt: Double
    /// The time of creation in seconds since 1970.
    public var createdAt: Double
    /// The time of revocation in seconds since 1970; nil if it is not revoked.
    public var revokedAt: Double?

    /// Creates a ticket, such as one that was stored.
    public init(
        id: String,
        number: UInt32,
        room: String,
        name: String,
        devices: Int,
        startsAt: Double?,
        expiresAt: Double,
        createdAt: Double,
        revokedAt: Double? = nil
    ) {
        self.id = id
        self.number = number
        self.room = room
        self.name = name
        self.devices = devices
        self.startsAt = startsAt
        self.expiresAt = expiresAt
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    /// Returns why the ticket does not admit at a time, in seconds since 1970; nil if it does.
    func refusal(at now: Double) -> AccessRefusal? {
        if revokedAt != nil { return .ticketRevoked }
        if now >= expiresAt { return .ticketExpired }
        if let startsAt, now < startsAt { return .ticketEarly }
        return nil
    }
}

/// What an operator asks of a new ticket.
public struct TicketOrder: Sendable, Hashable {
    /// The name, at most 200 bytes; may be empty.
    public var name: String
    /// The number of devices that may watch at once, 1 to 100.
    public var devices: Int
    /// The start of validity in seconds since 1970; nil for now.
    public var startsAt: Double?
    /// The end of validity in seconds since 1970, in the next two years.
    public var expiresAt: Double

    /// Creates an order.
    public init(name: String = "", devices: Int = 1, startsAt: Double? = nil, expiresAt: Double) {
        self.name = name
        self.devices = devices
        self.startsAt = startsAt
        self.expiresAt = expiresAt
    }

    private static let longestName = 200
    private static let longestValidity = 2 * 366 * 86_400.0

    /// Validates every value.
    ///
    /// - Throws: 3073 naming the field.
    public func validate(at now: Double) throws(StageError) {
        guard name.utf8.count <= Self.longestName, !name.unicodeScalars.contains(where: Self.isInvisible) else {
            throw .invalidParameter("name", "must be one line of at most \(Self.longestName) bytes")
        }
        guard (1...100).contains(devices) else { throw .invalidParameter("devices", "must be 1 to 100") }
        guard expiresAt > now, expiresAt <= now + Self.longestValidity else {
            throw .invalidParameter("expires_at", "must be in the next two years")
        }
        if let startsAt {
            guard startsAt >= 0, startsAt < expiresAt else {
                throw .invalidParameter("starts_at", "must be after 1970 and before expires_at")
            }
        }
    }

    /// Whether a character controls lines or the direction of text.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}

/// Signs tickets and hashes passphrases, with keys that are derived from a secret of the gateway.
public struct AdmissionKeys: Sendable {
    private let tickets: SymmetricKey
    private let passphrases: SymmetricKey

    /// The characters of a ticket's number, and those of its signature: 96 bits.
    private static let numberLength = 4
    private static let signatureLength = 16

    /// - Parameter secret: At least 32 random bytes, the same after a restart.
    public init(secret: [UInt8]) {
        func derive(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: secret),
                info: Data("footlight \(purpose)".utf8),
                outputByteCount: 32
            )
        }
        tickets = derive("tickets")
        passphrases = derive("passphrases")
    }

    /// Returns the text of a ticket in links: its number and the signature of its room and id, 20 characters of
    /// base64url.
    public func text(of ticket: Ticket) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(ticket.room)\u{1F}\(ticket.id)".utf8), using: tickets)
        let number = withUnsafeBytes(of: ticket.number.bigEndian) { Data($0.dropFirst()) }
        return Self.base64URL(number) + Self.base64URL(Data(code.prefix(Self.signatureLength * 3 / 4)))
    }

    /// Returns the number in the text of a ticket; nil for a malformed one.
    ///
    /// The signature is not checked: compare the text with that of the ticket.
    static func number(in text: String) -> UInt32? {
        guard text.utf8.count == numberLength + signatureLength else { return nil }
        let standard = String(text.prefix(numberLength)).replacing("-", with: "+").replacing("_", with: "/")
        guard let bytes = Data(base64Encoded: standard) else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether a text is that of a ticket; compares in constant time.
    func isText(_ text: String, of ticket: Ticket) -> Bool {
        Self.isEqual(Array(text.utf8), Array(self.text(of: ticket).utf8))
    }

    /// Returns the digest of a new passphrase, with a salt of its own.
    public func digest(of passphrase: String) -> PassphraseDigest {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return PassphraseDigest(salt: salt, digest: digest(of: passphrase, salt: salt))
    }

    /// Whether a passphrase has this digest; compares in constant time.
    func matches(_ passphrase: String, _ stored: PassphraseDigest) -> Bool {
        Self.isEqual(digest(of: passphrase, salt: stored.salt), stored.digest)
    }

    private func digest(of passphrase: String, salt: [UInt8]) -> [UInt8] {
        // The key is not in the database, so that a copy of it alone does not allow guessing.
        Array(HMAC<SHA256>.authenticationCode(for: Data(salt) + Data(passphrase.utf8), using: passphrases))
    }

    private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// Stores tickets on disk.
public protocol TicketStoring: Sendable {
    /// Writes tickets, new or changed, and deletes others by id; returns when that is on disk.
    func save(_ tickets: [Ticket], removing gone: [String]) async throws
}

extension StageError {
    /// 53413 with status 404: no such ticket.
    public static let ticketNotFound = StageError(
        code: 53413,
        name: "TicketInvalidError",
        message: "There is no such ticket",
        cause: "The room has no ticket of this id, or it expired long ago",
        solution: "List the room's tickets",
        status: 404
    )
    /// 53419: the room has as many tickets as it may.
    public static let tooManyTickets = StageError(
        code: 53419,
        name: "TooManyTicketsError",
        message: "The room has too many tickets",
        cause: "A room may have \(AudienceGate.ticketsPerRoom) tickets, and the gateway \(AudienceGate.ticketLimit)",
        solution: "Revoke tickets, which makes room a day later, or make fewer",
        status: 409
    )
    /// 53001: tickets could not be stored.
    public static let ticketsNotStored = StageError(
        code: 53001,
        name: "SignalingConnectionError",
        message: "The tickets could not be stored",
        cause: "The data folder cannot be written",
        solution: "Check its free space and owner, and try again",
        status: 503,
        isRetryable: true,
        retryAfter: 5
    )
}
