import CPostgres

/// One of the servers of a connection string, with all its settings.
///
/// The string is divided because libpq limits the time of a connection only in calls that block, so that a server that
/// accepts connections and does not answer would keep it from the next one.
struct PostgresServer: Sendable, Hashable {
    /// The settings of the connection.
    var settings: [String: String]
    /// The host and the port, for the log.
    var name: String

    /// Returns the servers of a connection string: keywords and values, or a URL.
    static func servers(of connection: String) throws(PostgresFault) -> [PostgresServer] {
        let settings = try parse(connection)
        func list(_ key: String) -> [String]? {
            settings[key].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(hosts?.count ?? 1, addresses?.count ?? 1)
        for list in [hosts, addresses] where list != nil && list?.count != count {
            throw .invalid("the numbers of hosts and of their addresses differ")
        }
        if let ports, ports.count != 1, ports.count != count {
            throw .invalid("the numbers of hosts and of ports differ")
        }
        return (0..<count).map { index in
            var server = settings
            server["host"] = hosts?[index]
            server["hostaddr"] = addresses?[index]
            server["port"] = ports.map { $0.count == 1 ? $0[0] : $0[index] }
            server["target_session_attrs"] = "read-write"
            server["client_encoding"] = "UTF8"
            if server["application_name"] == nil { server["application_name"] = "footlight" }
            let name = (server["host"] ?? server["hostaddr"] ?? "local") + ":" + (server["port"] ?? "5432")
            return PostgresServer(settings: server, name: name)
        }
    }

    private static func parse(_ connection: String) throws(PostgresFault) -> [String: String] {
        guard let options = PQconninfoParse(connection, nil) else {
            // Its message quotes the string, which may contain a password.
            throw .invalid("the connection string of the database is not understood")
        }
        defer { PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return settings
    }
}
