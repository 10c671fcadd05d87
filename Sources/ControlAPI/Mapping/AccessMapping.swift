import Admission
import Foundation
import FootlightModel
import Stage

extension AccessResource {
    init(_ access: AudienceAccess) {
        self.init(
            rule: .known(access.rule),
            allowRegions: access.allowedRegions,
            denyRegions: access.deniedRegions,
            allowNetworks: access.allowedNetworks,
            denyNetworks: access.deniedNetworks
        )
    }
}

extension AudienceAccess {
    /// The lengths of a passphrase in bytes.
    private static let passphraseLengths = 6...128

    /// Applies the fields of a request; missing fields stay unchanged.
    ///
    /// - Parameters:
    ///   - path: The prefix of field names in errors.
    ///   - digest: Returns what is stored of a passphrase.
    /// - Throws: 3073 naming the field.
    mutating func apply(
        _ body: AccessBody,
        path: String = "",
        digest: (String) -> PassphraseDigest
    ) throws(StageError) {
        rule = try body.rule?.known(in: "\(path)rule") ?? rule
        if let text = body.passphrase {
            guard Self.passphraseLengths.contains(text.utf8.count) else {
                throw .invalidParameter("\(path)passphrase", "must have 6 to 128 bytes")
            }
            guard rule == .passphrase else {
                throw .invalidParameter("\(path)passphrase", "is for the rule passphrase only")
            }
            passphrase = digest(text)
        }
        if rule != .passphrase { passphrase = nil }
        allowedRegions = body.allowRegions ?? allowedRegions
        deniedRegions = body.denyRegions ?? deniedRegions
        allowedNetworks = body.allowNetworks ?? allowedNetworks
        deniedNetworks = body.denyNetworks ?? deniedNetworks
    }
}

extension TicketResource {
    init(_ ticket: Ticket, gate: AudienceGate, addresses: PlaybackAddresses) {
        let text = gate.text(of: ticket)
        self.init(
            id: ticket.id,
            room: ticket.room,
            name: ticket.name,
            devices: ticket.devices,
            watching: gate.deviceCount(of: ticket),
            startsAt: ticket.startsAt.map { Timestamp($0) },
            expiresAt: Timestamp(ticket.expiresAt),
            dateCreated: Timestamp(ticket.createdAt),
            revokedAt: ticket.revokedAt.map { Timestamp($0) },
            ticket: text,
            url: addresses.watch(ticket.room) + "?ticket=\(text)",
            playback: PlaybackResource(room: ticket.room, addresses: addresses, query: "?ticket=\(text)")
        )
    }
}

extension TicketResource: ReportRow {
    static var columns: [String] {
        ["name", "devices", "starts_at", "expires_at", "id", "url", "watching", "date_created", "revoked_at"]
    }

    var lines: [[CSVText.Cell]] {
        [
            [
                .text(name), .count(devices), .time(startsAt), .time(expiresAt), .text(id), .text(url),
                .count(watching), .time(dateCreated), .time(revokedAt),
            ]
        ]
    }
}

extension TicketOrder {
    /// Reads orders from a table of comma-separated values (RFC 4180) whose first line names the columns.
    ///
    /// `expires_at` is required; `name`, `devices` and `starts_at` are optional, and other columns are ignored, so that
    /// an exported table can be read again.
    ///
    /// - Throws: 53004 naming the line.
    static func read(
        _ text: String,
        at now: Double = Date().timeIntervalSince1970
    ) throws(StageError) -> [TicketOrder] {
        let rows = try CSVText.rows(of: text)
        guard let header = rows.first?.map({ $0.lowercased() }), let expiry = header.firstIndex(of: "expires_at") else {
            throw unreadable("the first line must name the columns, expires_at among them")
        }
        let columns = Dictionary(header.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var orders: [TicketOrder] = []
        for (number, row) in rows.enumerated().dropFirst() where row != [""] {
            func cell(_ name: String) -> String? {
                columns[name].flatMap { $0 < row.count && !row[$0].isEmpty ? row[$0] : nil }
            }
            guard expiry < row.count, let expiresAt = Timestamp(row[expiry]) else {
                throw unreadable("line \(number + 1): expires_at must be a time such as 2027-01-31T22:00:00Z")
            }
            var startsAt: Timestamp?
            if let text = cell("starts_at") {
                guard let time = Timestamp(text) else {
                    throw unreadable("line \(number + 1): starts_at must be a time such as 2027-01-31T20:00:00Z")
                }
                startsAt = time
            }
            guard let devices = cell("devices").map({ Int($0) }) ?? 1 else {
                throw unreadable("line \(number + 1): devices must be a number")
            }
            let order = TicketOrder(
                name: CSVText.unguarded(cell("name") ?? ""),
                devices: devices,
                startsAt: startsAt?.seconds,
                expiresAt: expiresAt.seconds
            )
            do {
                try order.validate(at: now)
            } catch {
                throw unreadable("line \(number + 1): \(error.message)")
            }
            orders.append(order)
        }
        guard !orders.isEmpty else { throw unreadable("the table has no line but the first") }
        return orders
    }

    /// 53004 for a table that cannot be read.
    static func unreadable(_ detail: String) -> StageError {
        var error = StageError.malformed(detail)
        error.cause = "The body is not a table of tickets"
        error.solution = "Correct the line; no ticket was made"
        return error
    }
}
