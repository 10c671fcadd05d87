import Hummingbird

/// A request whose token is good, on its way to an answer.
struct Call: Sendable {
    let request: Request
    let context: BasicRequestContext
    let claims: AccessClaims

    /// A part of the path by its name; empty when the route has none of that name.
    func path(_ name: String) -> String {
        context.parameters.get(name) ?? ""
    }

    /// A value of the query; nil when it is not there.
    func query(_ name: String) -> String? {
        request.uri.queryParameters.get(name)
    }
}
