import HTTPTypes
import Hummingbird
import NIOCore
import Stage

extension ControlRoutes {
    /// What servers in front of us tell of the requests that they answered: JSON Lines, as content networks push them.
    ///
    /// Unlike players' own reports they tell of everybody, so they need a token: that of a relay, or an operator's.
    func addLogs(to api: APIRoutes) {
        guard let logs else { return }
        api.push("cdn-logs") { call in
            try call.claims.requireTelling()
            var room: String?
            if let bound = call.claims.room {
                guard let found = try? directory.summary(of: bound) else { throw StageError.tokenGrantsInvalid }
                room = found.name
            }
            // Networks say it or do not; what it is shows in its first bytes.
            let coding = call.request.headers[.contentEncoding]?.lowercased() ?? "identity"
            guard ["identity", "gzip", "x-gzip"].contains(coding) else {
                throw StageError.malformed("Content-Encoding must be gzip, or left out")
            }
            let limit = logs.bodyLimit
            let receipt = try await logs.take(of: call.claims.identity, room: room) { () async throws(StageError) in
                try await call.request.bytes(upTo: limit, else: .bodyTooLarge(limit: limit))
            }
            return try Reply.json(receipt)
        }
    }
}
