import Cluster

extension PostgresClusterStore {
    static let readQuery = """
        SELECT 'node', id, incarnation, count, fenced, address, load::text, accepts_rooms, version FROM footlight.node
        UNION ALL
        SELECT 'room', sid, incarnation, fence, NULL, owner, NULL, NULL, NULL FROM footlight.room
        """

    /// Removes rooms that were released a day ago.
    ///
    /// The next fence of such a room begins at the time of the clock, which is higher by then than any that it had. A
    /// room with a record stays as long as that.
    static let removeQuery = """
        DELETE FROM footlight.room
        WHERE owner IS NULL AND record IS NULL AND released_at < now() - interval '1 day'
        """

    /// Returns the statement of a write: a row of nulls if it was accepted, and a row for each granted room.
    ///
    /// Its parts see the tables as they were before it, except that a claim sees the fences of the same write. That is
    /// safe: a process that is fenced or replaced stays so. The update of the writer's row locks it until the end, so
    /// that no other node fences the writer meanwhile; the parts that follow read `me`, and do nothing without it.
    static func statement(for write: NodeWrite) -> PostgresStatement {
        var arguments: [String?] = [
            write.identity.node, "\(write.identity.incarnation)", "\(write.count)", write.profile.address,
            "\(write.profile.load)", write.profile.acceptsRooms ? "t" : "f", write.profile.version,
        ]
        func argument(_ value: String) -> String {
            arguments.append(value)
            return "$\(arguments.count)"
        }
        var parts = ["me AS (\(condition(of: write, argument)))"]
        var results = ["SELECT NULL::text, NULL::bigint FROM me"]
        if !write.fences.isEmpty {
            let nodes = argument(PostgresStatement.array(write.fences.map(\.identity.node)))
            let incarnations = argument(PostgresStatement.array(write.fences.map { "\($0.identity.incarnation)" }))
            let counts = argument(PostgresStatement.array(write.fences.map { "\($0.count)" }))
            parts.append(
                """
                gone AS (
                    UPDATE footlight.node n SET fenced = true
                    FROM me, unnest(\(nodes)::text[], \(incarnations)::bigint[], \(counts)::bigint[])
                        AS f (id, incarnation, count)
                    WHERE n.id = f.id AND n.incarnation = f.incarnation AND n.count = f.count AND NOT n.fenced
                    RETURNING n.id, n.incarnation)
                """
            )
        }
        if !write.releases.isEmpty {
            let rooms = argument(PostgresStatement.array(write.releases.map(\.room)))
            let fences = argument(PostgresStatement.array(write.releases.map { "\($0.fence)" }))
            parts.append(
                """
                released AS (
                    UPDATE footlight.room r
                    SET owner = NULL, incarnation = NULL, fence = r.fence + 1, released_at = now()
                    FROM me, unnest(\(rooms)::text[], \(fences)::bigint[]) AS c (sid, fence)
                    WHERE r.sid = c.sid AND r.fence = c.fence AND r.owner = $1 AND r.incarnation = $2)
                """
            )
        }
        if !write.claims.isEmpty {
            let (part, query) = claims(of: write, argument)
            parts += part
            results.append(query)
        }
        let sql = "WITH " + parts.joined(separator: ",\n") + "\n" + results.joined(separator: "\nUNION ALL ")
        return PostgresStatement(sql, arguments)
    }

    private static func condition(of write: NodeWrite, _ argument: (String) -> String) -> String {
        let columns = "id, incarnation, count, address, load, accepts_rooms, version"
        let values = "$1, $2::bigint, $3::bigint, $4, $5::float8, $6::boolean, $7"
        let assignments =
            "incarnation = $2::bigint, count = $3::bigint, fenced = false, address = $4,"
            + " load = $5::float8, accepts_rooms = $6::boolean, version = $7"
        switch write.condition {
        case .replacing(nil):
            return "INSERT INTO footlight.node (\(columns)) VALUES (\(values)) ON CONFLICT DO NOTHING RETURNING id"
        case .replacing(let row?):
            let incarnation = argument("\(row.identity.incarnation)")
            let count = argument("\(row.count)")
            let isFenced = argument(row.isFenced ? "t" : "f")
            return """
                UPDATE footlight.node SET \(assignments) WHERE id = $1 AND incarnation = \(incarnation)::bigint
                AND count = \(count)::bigint AND fenced = \(isFenced)::boolean RETURNING id
                """
        case .acknowledged(let acknowledged):
            let count = argument("\(acknowledged)")
            return """
                UPDATE footlight.node SET \(assignments) WHERE id = $1 AND incarnation = $2::bigint AND NOT fenced
                AND count >= \(count)::bigint AND count < $3::bigint RETURNING id
                """
        }
    }

    private static func claims(
        of write: NodeWrite,
        _ argument: (String) -> String
    ) -> (parts: [String], query: String) {
        let floor = argument("\(write.fenceFloor)")
        let known = write.claims.compactMap { claim in claim.expected.map { (claim.room, $0) } }
        let new = write.claims.filter { $0.expected == nil }.map(\.room)
        let rooms = argument(PostgresStatement.array(known.map(\.0)))
        let fences = argument(PostgresStatement.array(known.map { "\($0.1)" }))
        let newRooms = argument(PostgresStatement.array(new))
        let isGone =
            write.fences.isEmpty
            ? ""
            : "OR EXISTS (SELECT FROM gone g WHERE g.id = r.owner AND g.incarnation = r.incarnation)"
        let claimed = """
            claimed AS (
                UPDATE footlight.room r SET owner = $1, incarnation = $2::bigint, released_at = NULL,
                    fence = greatest(r.fence + 1, \(floor)::bigint)
                FROM me, unnest(\(rooms)::text[], \(fences)::bigint[]) AS c (sid, fence)
                WHERE r.sid = c.sid AND r.fence = c.fence AND (
                    r.owner IS NULL OR (r.owner = $1 AND r.incarnation = $2::bigint)
                    OR EXISTS (SELECT FROM footlight.node n WHERE n.id = r.owner
                        AND (n.fenced OR n.incarnation <> r.incarnation)) \(isGone))
                RETURNING r.sid, r.fence),
            added AS (
                INSERT INTO footlight.room (sid, owner, incarnation, fence)
                SELECT c.sid, $1, $2::bigint, greatest(1, \(floor)::bigint) FROM me, unnest(\(newRooms)::text[]) AS c (sid)
                ON CONFLICT (sid) DO NOTHING RETURNING sid, fence)
            """
        return ([claimed], "SELECT sid, fence FROM claimed UNION ALL SELECT sid, fence FROM added")
    }
}
