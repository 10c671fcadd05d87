import Media

/// Who may watch a room's program.
public struct AudienceAccess: Sendable, Hashable, Codable {
    /// What a viewer must present.
    public enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing.
        case `public`
        /// The room's passphrase, a ticket, or an access token for the room.
        case passphrase
        /// A ticket, or an access token for the room.
        case token
    }

    /// What a viewer must present.
    public var rule: Rule
    /// The digest of the passphrase; nil unless `rule` is `passphrase`.
    public var passphrase: PassphraseDigest?
    /// The regions from which the program may be watched, `DE` or `US-CA`; empty for all.
    public var allowedRegions: [String]
    /// The regions from which the program may not be watched.
    public var deniedRegions: [String]
    /// The networks from which the program may be watched, such as `10.0.0.0/8`; empty for all.
    public var allowedNetworks: [String]
    /// The networks from which the program may not be watched.
    public var deniedNetworks: [String]

    /// The most entries of a list.
    public static let longestList = 256

    /// Creates the access to a public room.
    public init(
        rule: Rule = .public,
        passphrase: PassphraseDigest? = nil,
        allowedRegions: [String] = [],
        deniedRegions: [String] = [],
        allowedNetworks: [String] = [],
        deniedNetworks: [String] = []
    ) {
        self.rule = rule
        self.passphrase = passphrase
        self.allowedRegions = allowedRegions
        self.deniedRegions = deniedRegions
        self.allowedNetworks = allowedNetworks
        self.deniedNetworks = deniedNetworks
    }

    /// Whether anyone may watch from anywhere.
    public var isUnrestricted: Bool { rule == .public && !isLocal }

    /// Whether it matters where a viewer is.
    public var isLocal: Bool {
        !allowedRegions.isEmpty || !deniedRegions.isEmpty || !allowedNetworks.isEmpty || !deniedNetworks.isEmpty
    }

    /// Validates every value.
    ///
    /// - Parameter path: The prefix of field names in errors.
    /// - Throws: 3073 naming the field.
    public func validate(path: String = "access.") throws(StageError) {
        guard rule != .passphrase || passphrase != nil else {
            throw .invalidParameter("\(path)passphrase", "must be given")
        }
        for (field, regions) in [("allow_regions", allowedRegions), ("deny_regions", deniedRegions)] {
            guard regions.count <= Self.longestList, regions.allSatisfy(Self.isRegion) else {
                throw .invalidParameter(
                    "\(path)\(field)",
                    "must be at most \(Self.longestList) codes of countries or their subdivisions, such as DE or US-CA"
                )
            }
        }
        for (field, networks) in [("allow_networks", allowedNetworks), ("deny_networks", deniedNetworks)] {
            guard networks.count <= Self.longestList, NetworkList(networks) != nil else {
                throw .invalidParameter(
                    "\(path)\(field)",
                    "must be at most \(Self.longestList) addresses or networks, such as 10.0.0.0/8"
                )
            }
        }
    }

    /// Whether a text has the form `DE` or `US-CA` (ISO 3166).
    private static func isRegion(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard let country = parts.first, country.count == 2, country.allSatisfy(isUpper) else { return false }
        guard parts.count > 1 else { return true }
        return parts.count == 2 && (1...3).contains(parts[1].count)
            && parts[1].allSatisfy { isUpper($0) || isDigit($0) }
    }
}

/// What is stored of a room's passphrase.
public struct PassphraseDigest: Sendable, Hashable, Codable {
    /// 16 random bytes, new with each passphrase.
    public var salt: [UInt8]
    /// A keyed hash of salt and passphrase.
    public var digest: [UInt8]

    /// Creates a digest of its parts.
    public init(salt: [UInt8], digest: [UInt8]) {
        self.salt = salt
        self.digest = digest
    }

    /// The number that session ids of viewers with this passphrase carry.
    public var grantNumber: UInt16 { digest.prefix(2).reduce(0) { $0 << 8 | UInt16($1) } }
}

/// Changes of who may watch.
extension RoomDirectory {
    /// Sets who may watch a room's program.
    ///
    /// Events: `room.updated` when that is a change.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - change: Called once with the present value; its error is rethrown, and nothing changes.
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setAccess(
        room: String,
        _ change: (inout AudienceAccess) throws(StageError) -> Void
    ) throws(StageError) -> AudienceAccess {
        try self.change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                var access = room.settings.audienceAccess
                try change(&access)
                try room.setAccess(access, at: now)
                return access
            }
        }
    }
}

extension Room {
    fileprivate mutating func setAccess(_ access: AudienceAccess, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        try access.validate(path: "")
        guard access != settings.audienceAccess else { return }
        settings.audienceAccess = access
        emit(.roomUpdated(view), at: now)
    }
}
