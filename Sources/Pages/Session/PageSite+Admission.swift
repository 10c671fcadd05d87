import HTTPTypes
import Hummingbird
import Media

extension PageSite {
    /// The request as the API is to see it: with the token of the session that its cookie names.
    ///
    /// A request that has a token of its own, or that may not go by the cookie, stays as it is. The API checks the token
    /// each time, so one that was taken back or is out of its time opens nothing any more.
    func admitted(_ request: Request) -> Request {
        guard request.headers[.authorization] == nil, let token = token(of: request) else { return request }
        var head = request.head
        head.headerFields[.authorization] = "Bearer \(token)"
        head.headerFields[.cookie] = nil
        return Request(head: head, body: request.body)
    }

    /// The token of the session that a request's cookie names; nil where there is none, or the request is not ours.
    func token(of request: Request) -> String? {
        guard let secret = SessionCookie.secret(in: request), RequestOrigin(request).isOwn else { return nil }
        let now = clock.now
        return sessions.with { $0.token(of: secret, now: now) }
    }
}
