/// What a peer said in its `connect`.
struct ConnectRequest {
    var app: StreamName
    var tcURL: String?
    var query: [String: String]
    var objectEncoding: Double
    var capabilities: EnhancedCapabilities
    /// What the peer calls itself.
    var clientName: String?

    /// Reads the command object; the address stands in for a missing application.
    init(_ properties: AMF0Object) {
        tcURL = properties.value(ignoringCaseOf: "tcUrl")?.string
        let address = tcURL.flatMap { StreamName(url: $0) }
        app = StreamName(properties["app"]?.string ?? "")
        query = (address?.query ?? [:]).merging(app.query) { $1 }
        if app.path.isEmpty, let address { app = address }
        objectEncoding = properties["objectEncoding"]?.number ?? 0
        capabilities = EnhancedCapabilities(properties)
        clientName = properties.value(ignoringCaseOf: "flashVer")?.string
    }

    /// The application, the name, and all parameters of a publish or play command; the key may end the application.
    func target(_ name: String) -> (app: String, name: StreamName, query: [String: String]) {
        var app = app
        var target = StreamName(name)
        if target.path.isEmpty, let last = app.removeLastPart() { target.path = last }
        return (app.path, target, query.merging(target.query) { $1 })
    }
}
