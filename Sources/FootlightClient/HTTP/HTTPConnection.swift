import Foundation
import Stage
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with URLSession, each with a deadline; without cookies and cache.
final class HTTPConnection: Sendable {
    private let session: URLSession
    private let clock: ClientClock

    init(clock: ClientClock) {
        self.clock = clock
        session = URLSession(configuration: .plain, delegate: ManualRedirectDelegate(), delegateQueue: nil)
    }

    deinit {
        // Abandoned transfers are cancelled individually, when they have not completed: on Linux, cancelling a task at
        // the moment it completes crashes the process.
        session.finishTasksAndInvalidate()
    }

    /// Sends a request, follows redirects, and returns the complete response; see `Redirect`.
    ///
    /// - Throws: 53000 without a response in time; 499 if the task is cancelled.
    func answer(to request: URLRequest, within deadline: Duration) async throws(StageError) -> ServerResponse {
        let end = clock.now() + deadline
        var (request, followed) = (request, 0)
        while true {
            let answer = try await answer(to: request, until: end)
            guard followed < Redirect.maximumCount,
                let next = Redirect.next(after: request, status: answer.status, location: answer.location)
            else { return answer }
            request = next
            followed += 1
        }
    }

    /// Sends a single request.
    ///
    /// An abandoned transfer is cancelled here, not by the task's cancellation as in `URLSession.data(for:)`:
    /// Foundation for Linux (6.3) then waits for the session's queue while it holds the task's lock, and the queue may
    /// be waiting for that lock to deliver a response.
    private func answer(to request: URLRequest, until end: Duration) async throws(StageError) -> ServerResponse {
        let pending = PendingResponse()
        let transfer = session.dataTask(with: request) { data, response, error in
            guard error == nil, let response = response as? HTTPURLResponse else {
                // Name resolution, route, connection or certificate failed.
                return pending.resolve(.failure(.callNotConnected))
            }
            pending.resolve(.success(ServerResponse(response, body: data ?? Data())))
        }
        let timer = Task { [clock] in
            // Cancelled if the response arrives before.
            guard (try? await clock.sleep(until: end)) != nil else { return }
            pending.resolve(.failure(.callNotConnected))
        }
        transfer.resume()
        let outcome = await pending.outcome()
        timer.cancel()
        if case .failure = outcome { transfer.cancel() }
        return try outcome.get()
    }
}

extension URLSessionConfiguration {
    /// A configuration that stores nothing between requests.
    static var plain: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }
}

extension ServerResponse {
    init(_ response: HTTPURLResponse, body: Data) {
        self.init(
            status: response.statusCode,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) },
            location: response.value(forHTTPHeaderField: "Location"),
            body: body
        )
    }
}

/// The response to a request, with any status.
struct ServerResponse: Sendable {
    var status: Int
    /// Seconds from the `Retry-After` field (RFC 9110 section 10.2.3); nil without one, or with a date.
    var retryAfter: Int?
    /// The `Location` field of a redirect.
    var location: String?
    var body: Data

    var isSuccess: Bool { (200..<300).contains(status) }
}

/// The pending response to a request, resolved once: by the network, the deadline, or the cancellation of the task.
final class PendingResponse: Sendable {
    typealias Outcome = Result<ServerResponse, StageError>

    private struct State {
        var outcome: Outcome?
        var reader: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    /// Resolves the response; without effect if it is resolved already.
    func resolve(_ outcome: Outcome) {
        let reader = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: outcome)
    }

    /// Waits for the response; only one task may wait.
    func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resolved = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.reader = continuation }
                    return state.outcome
                }
                if let resolved { continuation.resume(returning: resolved) }
            }
        } onCancel: {
            resolve(.failure(.requestCancelled))
        }
    }
}

/// The rules for following redirects.
///
/// URL loading systems differ: some change the method to GET, some send the token to any host. Here the method is kept
/// (except for 303, RFC 9110 section 15.4.4), the token is sent to the original host only, and HTTPS never redirects to
/// HTTP.
enum Redirect {
    /// Maximum number of redirects in a row.
    static let maximumCount = 5

    private static let statuses: Set = [301, 302, 303, 307, 308]

    /// Returns the next request; nil for a response that is not a valid redirect.
    ///
    /// - Parameter location: The `Location` field, which may be relative (RFC 9110 section 10.2.2).
    static func next(after request: URLRequest, status: Int, location: String?) -> URLRequest? {
        guard statuses.contains(status), let location, let from = request.url,
            let to = URL(string: location, relativeTo: from)?.absoluteURL,
            let scheme = to.scheme?.lowercased(), ["http", "https"].contains(scheme), to.host() != nil,
            scheme == "https" || from.scheme?.lowercased() == "http"
        else { return nil }
        var next = request
        next.url = to
        if status == 303 {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.setValue(nil, forHTTPHeaderField: "Content-Type")
        }
        if !isSameHost(from, to) { next.setValue(nil, forHTTPHeaderField: "Authorization") }
        return next
    }

    /// Whether both URLs have the same host and port; an upgrade from HTTP to HTTPS changes the port.
    private static func isSameHost(_ from: URL, _ to: URL) -> Bool {
        guard from.host()?.lowercased() == to.host()?.lowercased() else { return false }
        let isUpgrade = from.scheme?.lowercased() == "http" && to.scheme?.lowercased() == "https"
        return isUpgrade || port(of: from) == port(of: to)
    }

    private static func port(of url: URL) -> Int {
        url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
    }
}

/// Returns redirects as responses; `HTTPConnection` follows them by its own rules.
final class ManualRedirectDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
