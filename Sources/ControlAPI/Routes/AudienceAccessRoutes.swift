import Admission
import FootlightModel
import HTTPTypes
import Hummingbird
import Stage

/// Routes for who may watch a room's program: its rule, its tickets, and the admission of viewers.
struct AudienceAccessRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers
    let gate: AudienceGate
    /// Identifies a viewer from the header fields.
    let viewer: @Sendable (HTTPFields) -> PlayerRequest

    /// The most bytes of an imported table: 1000 tickets with long names.
    private static let longestTable = 1 << 20

    func add(to api: APIRoutes) {
        api.read("rooms/:room/access") { call in
            let room = try rooms.readableRoom(call)
            return try APIResponse.json(AccessResource(rooms.directory.room(room.sid).settings.audienceAccess))
        }

        api.command(.put, "rooms/:room/access") { call in
            try call.claims.requireOperator()
            let room = try rooms.liveRoom(call)
            let body = try await call.decode(AccessBody.self)
            let access = try rooms.directory.setAccess(room: room.sid) { (access) throws(StageError) in
                try access.apply(body, digest: gate.digest)
            }
            await rooms.save(room)
            return try APIResponse.json(AccessResource(access))
        }

        api.command(.post, "rooms/:room/tickets") { call in
            try call.claims.requireOperator()
            let room = try roomName(call)
            let tickets = try await gate.makeTickets(try orders(call.request), for: room)
            return try APIResponse.json(
                TicketList(tickets: tickets.map { resource(of: $0, for: call.request) }),
                status: .created
            )
        }

        api.read("rooms/:room/tickets") { call in try list(call) }
        // Its format is that of the extension.
        api.read("rooms/:room/tickets.csv") { call in try list(call) }

        api.read("rooms/:room/tickets/:ticket") { call in
            try call.claims.requireOperator()
            let ticket = try gate.ticket(call.path("ticket"), in: try roomName(call))
            return try APIResponse.json(resource(of: ticket, for: call.request))
        }

        api.command(.delete, "rooms/:room/tickets/:ticket") { call in
            try call.claims.requireOperator()
            let ticket = try await gate.revokeTicket(call.path("ticket"), of: try roomName(call))
            return try APIResponse.json(resource(of: ticket, for: call.request))
        }

        // Viewers have no token: what admits them is in the body, so that it stands in no log.
        api.group.post("rooms/:room/admission") { request, context -> Response in
            let body = try await request.decode(AdmissionBody.self, whenEmpty: AdmissionBody())
            let room = try rooms.directory.summary(of: context.parameters.get("room") ?? "")
            guard room.status == .inProgress else { throw StageError.roomNotFound }
            var player = viewer(request.headers)
            player.ticket = body.ticket
            player.passphrase = body.passphrase
            player.sid = body.sid
            player.takesOver = body.takeOver ?? false
            let sid = try gate.admitViewer(player, to: room.name)
            let addresses = answers.addresses(for: request)
            var response = try APIResponse.json(
                AdmissionResource(
                    sid: sid,
                    playback: PlaybackResource(room: room.name, addresses: addresses, query: "?sid=\(sid)")
                )
            )
            response.headers[.cacheControl] = "no-store"
            response.headers[.accessControlAllowOrigin] = "*"
            return response
        }

        // A page of another origin may send JSON only after a preflight (Fetch standard, "CORS protocol").
        api.group.on("rooms/:room/admission", method: .options) { _, _ -> Response in
            Response(
                status: .noContent,
                headers: [
                    .allow: "POST, OPTIONS",
                    .accessControlAllowOrigin: "*",
                    .accessControlAllowMethods: "POST",
                    .accessControlAllowHeaders: "Content-Type",
                    .accessControlMaxAge: "86400",
                ]
            )
        }
    }

    private func list(_ call: APICall) throws -> Response {
        try call.claims.requireOperator()
        let tickets = gate.tickets(of: try roomName(call))
        let format = try ReportFormat(call.request)
        guard format == .json else {
            let all = tickets.map { resource(of: $0, for: call.request) }
            return try format.answer(all, rows: all, name: "tickets", to: call.request)
        }
        let (entries, meta) = try PageRequest(call.request).page(of: tickets) {
            PageRequest.Cursor(at: $0.createdAt, sid: $0.id)
        }
        return try APIResponse.json(
            TicketList(tickets: entries.map { resource(of: $0, for: call.request) }, meta: meta)
        )
    }

    private func resource(of ticket: Ticket, for request: Request) -> TicketResource {
        TicketResource(ticket, gate: gate, addresses: answers.addresses(for: request))
    }

    /// Returns the unique name that the path names, of a room that need not exist yet.
    ///
    /// - Throws: 53100-53102 for a name that no room can have.
    private func roomName(_ call: APICall) throws(StageError) -> String {
        let reference = call.path("room")
        if let room = try? rooms.directory.summary(of: reference) { return room.name }
        try RoomSettings(name: reference).validate()
        return reference
    }

    /// Reads the tickets that a request asks for, from JSON or from a table.
    private func orders(_ request: Request) async throws -> [TicketOrder] {
        if request.headers[.contentType]?.lowercased().hasPrefix("text/csv") ?? false {
            let table = try await request.bytes(upTo: Self.longestTable, else: .bodyTooLarge(limit: Self.longestTable))
            guard let text = String(validating: table.readableBytesView, as: UTF8.self) else {
                throw TicketOrder.unreadable("the table must be UTF-8")
            }
            return try TicketOrder.read(text)
        }
        let body = try await request.decode(CreateTicketsBody.self)
        let count = body.count ?? 1
        guard (1...AudienceGate.ticketsAtOnce).contains(count) else {
            throw StageError.invalidParameter("count", "must be 1 to \(AudienceGate.ticketsAtOnce)")
        }
        let order = TicketOrder(
            name: body.name ?? "",
            devices: body.devices ?? 1,
            startsAt: body.startsAt?.seconds,
            expiresAt: body.expiresAt.seconds
        )
        return Array(repeating: order, count: count)
    }
}
